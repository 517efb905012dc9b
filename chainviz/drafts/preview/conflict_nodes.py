"""Cards for the nodes that a draft and a newer version both changed: the change of each side, and the choices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.safestring import SafeString

from chainviz.chains.diff import diff_html
from chainviz.chains.diff.compare import Compared
from chainviz.chains.diff.diff_html import Group, More, Row, Sentence
from chainviz.chains.diff.groups import build_group
from chainviz.chains.diff.part_rows import in_lines
from chainviz.core.counts import count_text
from chainviz.core.diff import chains as core
from chainviz.core.diff.lines import DiffRow
from chainviz.core.diff.merge.items import CHOICES, Choice
from chainviz.core.diff.messages import compare_texts
from chainviz.core.formats import get_format
from chainviz.store.history.merge import Conflict, SnapshotMerge
from chainviz.store.models import Snapshot
from chainviz.store.transfer.document_context import context_of
from chainviz.web.formatting import byte_text

ROOM = 700
"""The most HTML elements of all cards on one page."""
OF_A_SIDE = 200
MOST_LINES = 40


@dataclass(frozen=True, slots=True)
class ChoiceField:
    value: Choice
    label: str
    hint: str
    is_chosen: bool
    html: SafeString
    """The change of this side; empty for both."""


@dataclass(frozen=True, slots=True)
class ConflictCard:
    number: int
    """The number of the card among all cards, from 1."""
    name: str
    """The name of its form fields."""
    title: str
    choices: tuple[ChoiceField, ...]
    is_missing: bool
    """The form contained no choice for it."""
    keeps_other_parts: bool
    """Each side also changed other parts, which are merged with any choice."""

    @property
    def sides(self) -> tuple[ChoiceField, ...]:
        return self.choices[:2]

    @property
    def both(self) -> ChoiceField | None:
        return self.choices[2] if len(self.choices) > 2 else None


@dataclass(frozen=True)
class Sides:
    """The comparison of each side with the base; None if a side was converted to another format, because then nothing is compared."""

    merge: SnapshotMerge
    mine: Compared | None
    theirs: Compared | None
    head_number: int
    choices: Mapping[str, Choice]
    asks: bool
    """The submitted form had missing choices."""


def cards(sides: Sides, first: int) -> Iterator[ConflictCard]:
    """Yield the cards of a page, from number `first` on."""
    room = ROOM
    for number, conflict in enumerate(sides.merge.conflicts[first - 1 :], first):
        made = {side: list(_changes(sides, side, number, conflict)) for side in ("mine", "theirs")}
        room -= 20 + sum(diff_html.count_elements(each) for found in made.values() for each in found)
        if room < 0 and number > first:
            return
        chosen = sides.choices.get(conflict.key)
        title = _title(sides, conflict, made)
        labels = {"mine": "Mine", "theirs": f"Theirs, version {sides.head_number}", "both": "Both"}
        hints = {"mine": _hint(made["mine"]), "theirs": _hint(made["theirs"]), "both": _both_hint(conflict)}
        fields = tuple(
            ChoiceField(each, labels[each], hints[each], chosen == each, diff_html.render(made.get(each, []))) for each in conflict.choices
        )
        is_missing = sides.asks and chosen is None
        yield ConflictCard(number, FIELD + conflict.key, title, fields, is_missing, conflict.keeps_other_parts)


def _title(sides: Sides, conflict: Conflict, made: Mapping[str, list[Group]]) -> str:
    if sides.merge.is_whole:
        return "The whole chain"
    if not conflict.spans:
        return "The document around the messages"
    start, stop = conflict.spans[0]
    if conflict.path is None or (start == stop == 0 and len(conflict.spans) == 1):
        return "Before the first message"
    place = conflict.path.number
    if start == stop and len(conflict.spans) == 1:
        return f"After {place}"
    if len(conflict.spans) > 1:
        return f"{place} and where it was moved"
    name = next((each.title for found in made.values() for each in found), "")
    return f"{place} {name}".rstrip()


def _hint(groups: list[Group]) -> str:
    return ", ".join(dict.fromkeys(each.word for each in groups)) or "changed"


def _both_hint(conflict: Conflict) -> str:
    return "Keeps the changes of both sides." if conflict.is_joined else "Keeps two nodes: mine, then theirs."


def _changes(sides: Sides, side: str, number: int, conflict: Conflict) -> Iterator[Group]:
    compared = sides.mine if side == "mine" else sides.theirs
    snapshot = sides.merge.mine if side == "mine" else sides.merge.theirs
    if compared is None or not conflict.spans:
        rows = (Sentence("file", _whole_text(snapshot)),) if sides.merge.is_whole else _around(sides.merge.base, snapshot)
        yield Group(1, "", "", "system", "Document", False, "changed", "changed", "changed", "", tuple(rows), scope=f"{side}-{number}-")
        return
    for place, group in enumerate(compared.diff.changes, 1):
        if any(_touches(group.old, *span) for span in conflict.spans):
            yield replace(_short(build_group(compared, place, group)), scope=f"{side}-{number}-", edit_href="", restore="")


def _touches(side: core.Side, start: int, stop: int) -> bool:
    if start == stop or side.is_empty:
        return start <= side.start <= stop if side.is_empty else side.start < start < side.stop
    return side.start < stop and start < side.stop


def _short(group: Group) -> Group:
    """Return the first rows of a change. Its own page shows all rows."""
    elements = 0
    rows: list[Row] = []
    for row in group.rows:
        elements += diff_html.count_elements(replace(group, rows=(row,)))
        if rows and elements > OF_A_SIDE:
            return replace(group, rows=(*rows, More("Show the rest of this change", group.href)))
        rows.append(row)
    return group


def _whole_text(side: Snapshot) -> str:
    return f"{get_format(side.format).label}: {count_text(side.messages, 'message')}, {byte_text(side.size)}"


def _around(base: Snapshot, side: Snapshot) -> tuple[Row, ...]:
    """Return the first lines of a side's change around the messages."""
    before, after = ("\n".join(context_of(each).texts()) for each in (base, side))
    found = [row for row in compare_texts(before, after, json=True).rows() if isinstance(row, DiffRow)]
    lines: tuple[Row, ...] = tuple(in_lines(found[:MOST_LINES]))
    more = len(found) - MOST_LINES
    return (*lines, Sentence("info", f"and {count_text(more, 'line')} more")) if more > 0 else lines


# The choices in the form of a conflict, including those for nodes on other pages.


FIELD = "choose-"


def choices_in(form: QueryDict) -> dict[str, Choice]:
    """Return the choices by the key of their conflict: those in the hidden field, then those of the fields on the page."""
    hidden = (each.partition(":")[::2] for each in form.get("chosen", "").split())
    shown = ((name.removeprefix(FIELD), value) for name, value in form.items() if name.startswith(FIELD))
    known = {each: each for each in CHOICES}
    return {key: known[str(value)] for key, value in (*hidden, *shown) if value in known}  # type: ignore[index]


def hidden_choices(choices: Mapping[str, Choice], conflicts: Sequence[Conflict]) -> str:
    """Return the choices for these conflicts as the value of a hidden field."""
    return " ".join(f"{each.key}:{choices[each.key]}" for each in conflicts if each.key in choices)
