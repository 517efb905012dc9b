"""Rows of the store as rows of the page, and windows and opened nodes of versions as HTML, which stay in memory.

Those apps are in a higher layer, so a setting names the function that returns the notes. The server sends the notes together with the
rows, so that they need no JavaScript and the page does not shift.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

from chainviz.chains.explorer.message_words import header_words, pair_words, preview_words
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.rows import Flag, Row
from chainviz.chains.render.text_marks import TextMark
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import rule_flag
from chainviz.core.counts import count_text
from chainviz.store.content.at_hand import AtHand
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.query.windows import WindowRow

T = TypeVar("T")
MOST, LONGEST = 128, 100_000
"""The number of drawings that stay in memory, and the most bytes of one."""


class Drawing(NamedTuple, Generic[T]):
    value: T
    span: range
    """The messages on whose rows it has the notes."""
    notes: RowNotes
    length: int


_DRAWINGS: AtHand[Drawing[Any]] = AtHand(MOST)


def draw_once(subject: Subject, what: Hashable, draw: Callable[[], Drawing[T]]) -> T:
    """Return the value of a drawing. `what` names it among the drawings of the subject."""
    if subject.edition is None:
        return draw().value
    content = subject.snapshot.pk, subject.edition, bytes(subject.snapshot.digest), bytes(subject.outline.listing)
    key = content, subject.base_url, subject.permissions, what
    found = _DRAWINGS.get(key)
    if found is not None and row_notes(subject, found.span.start, found.span.stop) == found.notes:
        value: T = found.value
        return value
    made = draw()
    if made.length <= LONGEST:
        _DRAWINGS.keep(key, made)
    return made.value


TOOLS = 4
"""The most tools named in the row of a run."""
TOOL_NAME = 24


def row_view(row: WindowRow, refusing: str = "") -> Row:
    """Return the row of a page. It is marked if it has problems of the structure, or errors of the provider `refusing`."""
    view = {"section": _section, "run": _run}.get(row.kind, _node)(row)
    return replace(view, flag=_flag(row, refusing) if row.kind in ("header", "pair") else _flag_of_many(row, refusing))


def _section(row: WindowRow) -> Row:
    first = row.first
    name = preview_words(first) or "Untitled"
    return Row(row.path, "section", "", name, "", row.size, row.start, row.pairs, is_open=row.is_open)


def _run(row: WindowRow) -> Row:
    return Row(row.path, "run", "tool", count_text(row.pairs, "pair"), _run_teaser(row), row.size, row.start, row.pairs)


def _run_teaser(row: WindowRow) -> str:
    """Return the words of a run, such as `bash 31 · edit 12 · 96 messages`, or `bash, edit … · 9,600 messages` if calls are not counted."""
    messages = count_text(row.messages, "message")
    most = [(name[:TOOL_NAME] or "(no name)", calls) for name, calls in Counter(row.tools).most_common(TOOLS)]
    if not all(row.tools.values()):
        return f"{', '.join(name for name, _ in most)} … · {messages}"
    more = [count_text(len(row.tools) - TOOLS, "more tool")] if len(row.tools) > TOOLS else []
    return " · ".join([*(f"{name} {calls:,}" for name, calls in most), *more, messages])


def _flag_of_many(row: WindowRow, refusing: str) -> Flag | None:
    errors, warnings, *_ = row.counts.get("", (0, 0))
    refused, *_ = row.counts.get(refusing, (0,))
    count, errors = max(errors + warnings, refused), max(errors, refused)
    return Flag(count_text(count, "problem"), "problem" if errors else "changed") if count else None


def titled(row: Row, human: StoredShape | None) -> Row:
    """Name a section by its human message, if it has one."""
    return row if human is None or not human.preview else replace(row, name=preview_words(human))


def _node(row: WindowRow) -> Row:
    if row.kind == "header":
        role, name, teaser = header_words(row.first)
        return Row(row.path, "header", role, name, teaser, row.size, row.start, 1)
    role, name, teaser = pair_words(row.type, row.shapes, has_ai=row.has_ai)
    return Row(row.path, "pair", role, name, teaser, row.size, row.start, row.messages)


def _flag(row: WindowRow, refusing: str) -> Flag | None:
    found = [problem for problem in row.problems if not problem.provider and problem.severity != "info"]
    found = found or [problem for problem in row.problems if problem.provider == refusing and problem.severity == "error"]
    if not found:
        return None
    worst = next((problem for problem in found if problem.severity == "error"), found[0])
    text = rule_flag(worst.rule)
    count = sum(1 + problem.alike for problem in found)
    if count > 1:
        text += f" +{count - 1:,}"
    return Flag(text, "problem" if worst.severity == "error" else "changed")


@dataclass(frozen=True, slots=True)
class RowNotes:
    """Notes as HTML, by the path of their row."""

    chips: Mapping[Path, str] = field(default_factory=dict)
    """HTML in the line of the row."""
    states: Mapping[Path, str] = field(default_factory=dict)
    """The colour of the row's mark in the outline."""
    below: Mapping[Path, str] = field(default_factory=dict)
    """HTML at the end of the open node."""
    marks: Mapping[Path, Sequence[TextMark]] = field(default_factory=dict)
    """Marks in the text of a part, by the path of the part."""


NO_NOTES = RowNotes()


def row_notes(subject: Subject, start: int, stop: int) -> RowNotes:
    """Return the notes on the rows that begin with the messages `start:stop`. One query, and one more if there are any."""
    find: Callable[[Subject, int, int], RowNotes] = import_string(settings.ROW_NOTES)
    return find(subject, start, stop)


def changed_rows(changed: Sequence[range], rows: Iterable[WindowRow]) -> frozenset[Path]:
    """Yield the paths of changed rows. `changed` are ranges of messages, in order. An open section is left out, because its rows are
    listed."""
    shown = (row for row in rows if row.kind != "section" or not row.is_open)
    return frozenset(row.path for row in shown if overlaps(changed, row.start, row.messages))


def overlaps(changed: Sequence[range], start: int, messages: int) -> bool:
    """Return True if one of the messages `start : start + messages` was changed."""
    place = bisect_right(changed, start, key=lambda each: each.start)
    if place and changed[place - 1].stop > start:
        return True
    return place < len(changed) and changed[place].start < start + messages
