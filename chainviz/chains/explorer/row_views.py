"""Turn rows of the store into rows of the page: the words of a closed row, the notes of other apps, and the marks of a draft.

Names of pairs and messages, also in lists and notebooks, are a role, a name and a teaser, from their shapes alone. The other apps are in
a higher layer, so a setting names the function that returns the notes. The server sends the notes together with the rows, so that they
need no JavaScript and the page does not shift.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter

from django.conf import settings
from django.utils.module_loading import import_string

from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.rows import TEASER, Flag, Row
from chainviz.chains.render.text_marks import TextMark
from chainviz.chains.render.visible_text import marks, one_line
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, TOOL
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import rule_flag
from chainviz.core.chain.tree import PairType
from chainviz.core.counts import count_text
from chainviz.core.formats.contract import COMPACT_SUMMARY
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.query.windows import WindowRow

NAME = 80
SUMMARY_MARK = "**summarized content:**"
"""The beginning of an answer that is a summary."""
_DATA_URL = re.compile(r"data:(\w+)/[\w.+-]+;base64,\S*")
_FIRST_VALUE = re.compile(r'"[^"\\]*"\s*:\s*("(?:[^"\\]|\\.)*"?|\[[^\]]*\]?|\{[^}]*\}?|[^\s,}\]]+)')


@dataclass(frozen=True, slots=True)
class MessageWords:
    role: str
    """One of system, human, ai and tool; it determines colour and icon."""
    name: str
    teaser: str
    kind: str = ""
    """"calls" or "result", shown beside the name of a tool."""


def words_of(shape: StoredShape, tools: Mapping[str, str] | None = None) -> MessageWords:
    """Return the words for a message. `tools` are the tools of earlier calls by id, for results that do not name theirs."""
    preview = marks(one_line(preview_words(shape), TEASER))
    if shape.role == TOOL:
        names = [result.name or (tools or {}).get(result.id, "") for result in shape.results]
        return MessageWords("tool", _joined(names) or "Result", preview, "result" if any(names) else "")
    if shape.role == AI and shape.calls:
        names = [call.name for call in shape.calls]
        said = first_argument(preview_words(shape), names[0])
        return MessageWords("tool", _joined(names) or "Call", marks(one_line(said, TEASER)), "calls")
    if shape.is_user_action:
        names = [part.name or (tools or {}).get(part.id, "") for part in shape.parts if part.kind in ("tool_call", "tool_result")]
        is_call = any(part.kind == "tool_call" for part in shape.parts)
        return MessageWords("human", _joined(names) or "Tool", preview, "user calls" if is_call else "user's result")
    name = {SYSTEM: "System", HUMAN: "Human", AI: "Answer"}.get(shape.role) or marks(one_line(shape.role, NAME))
    return MessageWords(shape.role if shape.role in (SYSTEM, HUMAN, AI) else "tool", name, preview)


def _joined(names: list[str]) -> str:
    return marks(one_line(", ".join(dict.fromkeys(name for name in names if name)), NAME))


def header_words(first: StoredShape | None) -> tuple[str, str, str]:
    """Return the role, name and teaser of a header message."""
    role, name = ("human", "Human") if first is None or first.role == HUMAN else ("system", "System")
    if first is not None and first.is_user_action:
        name = "Human calls a tool" if any(part.kind == "tool_call" for part in first.parts) else "Result for the human"
    return role, name, preview_words(first)


def pair_words(type: PairType | None, shapes: Sequence[StoredShape], *, has_ai: bool) -> tuple[str, str, str]:
    """Return the role, name and teaser of a pair. `shapes` are its messages, or the first of them."""
    first = shapes[0] if shapes else None
    preview = preview_words(first)
    if not has_ai or first is None:
        return "tool", "No AI message", preview
    if type is PairType.SUMMARIZATION:
        return "summary", "Summary", preview_words(shapes[1]) if len(shapes) > 1 else preview
    if type is PairType.COMPLETION:
        if preview.startswith(SUMMARY_MARK) or first.label == COMPACT_SUMMARY:
            return "summary", "Summary", preview.removeprefix(SUMMARY_MARK).lstrip()
        return "ai", "Answer", preview
    names = Counter(map(attrgetter("name"), first.calls))
    name = ", ".join(f"{name or 'no name'}{f' ×{count:,}' if count > 1 else ''}" for name, count in names.items())
    return "tool", name, first_argument(preview, first.calls[0].name)


def preview_words(shape: StoredShape | None) -> str:
    """Return the preview of a message, without the bytes of images."""
    return _DATA_URL.sub(r"[\1]", shape.preview) if shape else ""


LONGEST_ESCAPE = len("\\u0000")


def first_argument(preview: str, name: str) -> str:
    """Return the value of a call's first argument, then the text of the message, both from its preview."""
    place = preview.find(f"{name} {{")
    found = _FIRST_VALUE.search(preview, place + len(name)) if place >= 0 else None
    said = preview[:place].strip() if place >= 0 else preview.removeprefix(name).strip()
    value = _plain_value(found[1]) if found else ""
    return f"{value} · {said}" if value and said else value or said


def _plain_value(value: str) -> str:
    """Return a JSON value from a preview, which may cut it off, even inside an escape."""
    if not value.startswith('"'):
        return value
    for text in (value, *(f'{value[: len(value) - cut]}"' for cut in range(LONGEST_ESCAPE))):
        try:
            return str(json.loads(text))
        except ValueError:
            continue
    return value.strip('"')


TOOLS = 4
"""The most tools named in the row of a run."""
TOOL_NAME = 24


def row_view(row: WindowRow) -> Row:
    return _section(row) if row.kind == "section" else _run(row) if row.kind == "run" else _node(row)


def _section(row: WindowRow) -> Row:
    first = row.first
    name = preview_words(first) or "Untitled"
    return Row(row.path, "section", "", name, "", row.size, row.start, row.pairs, _flag_of_many(row), row.is_open)


def _run(row: WindowRow) -> Row:
    return Row(row.path, "run", "tool", count_text(row.pairs, "pair"), _run_teaser(row), row.size, row.start, row.pairs, _flag_of_many(row))


def _run_teaser(row: WindowRow) -> str:
    """Return the words of a run, such as `bash 31 · edit 12 · 96 messages`, or `bash, edit … · 9,600 messages` if calls are not counted."""
    messages = count_text(row.messages, "message")
    most = [(name[:TOOL_NAME] or "(no name)", calls) for name, calls in Counter(row.tools).most_common(TOOLS)]
    if not all(row.tools.values()):
        return f"{', '.join(name for name, _ in most)} … · {messages}"
    more = [count_text(len(row.tools) - TOOLS, "more tool")] if len(row.tools) > TOOLS else []
    return " · ".join([*(f"{name} {calls:,}" for name, calls in most), *more, messages])


def _flag_of_many(row: WindowRow) -> Flag | None:
    errors, warnings, *_ = row.counts.get("", (0, 0))
    count = errors + warnings
    return Flag(count_text(count, "problem"), "problem" if errors else "changed") if count else None


def titled(row: Row, human: StoredShape | None) -> Row:
    """Name a section by its human message, if it has one."""
    return row if human is None or not human.preview else replace(row, name=preview_words(human))


def _node(row: WindowRow) -> Row:
    if row.kind == "header":
        role, name, teaser = header_words(row.first)
        return Row(row.path, "header", role, name, teaser, row.size, row.start, 1, _flag(row))
    role, name, teaser = pair_words(row.type, row.shapes, has_ai=row.has_ai)
    return Row(row.path, "pair", role, name, teaser, row.size, row.start, row.messages, _flag(row))


def _flag(row: WindowRow) -> Flag | None:
    found = [problem for problem in row.problems if not problem.provider and problem.severity != "info"]
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
