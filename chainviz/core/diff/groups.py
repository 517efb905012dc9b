"""Group the rows between two equal ranges as matched, moved, removed or added, and pair their calls with results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, islice, takewhile
from typing import Literal, NamedTuple

from chainviz.core.chain.messages import TOOL, Message, Part, ToolCall, ToolResult
from chainviz.core.chain.paths import Path
from chainviz.core.diff.align import Equal, align
from chainviz.core.diff.lines import DiffRow
from chainviz.core.diff.matching import Match, Reading, match_rows
from chainviz.core.diff.messages import MessageDiff, compare_texts
from chainviz.core.diff.rows import Measure, Row

SHOWN = 6
"""The number of argument lines that are shown for a call beside its result."""


def hidden_calls(messages: Iterable[Message], changed: Iterable[MessageDiff]) -> Mapping[str, ToolCall]:
    """Return the calls of a group by id, without those that its changes show."""
    shown = {part.call_id for message in changed for part in message.parts if part.part == "tool_call" and part.kind != "same"}
    calls = (part for message in messages for part in message.parts if isinstance(part, ToolCall))
    return {call.id: call for call in calls if call.id not in shown}


def calls_of_one_side(message: MessageDiff, calls: Mapping[str, ToolCall]) -> list[ToolCall]:
    """Return the calls whose results are in this message, if only one side has the message."""
    if message.role != TOOL or message.kind not in ("added", "removed"):
        return []
    return [calls[part.call_id] for part in message.parts if part.part == "tool_result" and part.call_id in calls]


def argument_rows(call: ToolCall) -> tuple[list[DiffRow], int]:
    """Return the first lines of a call's arguments as unchanged rows, and the number of lines left out."""
    rows = compare_texts(call.arguments, call.arguments, json=True).rows(context=None)
    shown = [row for row in islice(rows, SHOWN) if isinstance(row, DiffRow)]
    return shown, max(0, call.arguments.count("\n") + 1 - SHOWN)


def with_ids_of(new: Sequence[Message], old: Sequence[Message]) -> list[Message]:
    """Return the old messages with the call ids of the new ones, if both call the same tools in the same order."""
    olds, news = _calls(old), _calls(new)
    steps = align([call.name for call in olds], [call.name for call in news]).steps()
    same = [(step.old + i, step.new + i) for step in steps if isinstance(step, Equal) for i in range(step.length)]
    ids = {olds[i].id: news[k].id for i, k in same}
    return [replace(message, parts=tuple(_renamed(part, ids) for part in message.parts)) for message in old]


def _calls(messages: Sequence[Message]) -> list[ToolCall]:
    return [part for message in messages for part in message.parts if isinstance(part, ToolCall)]


def _renamed(part: Part, ids: Mapping[str, str]) -> Part:
    match part:
        case ToolCall():
            return replace(part, id=ids.get(part.id, part.id))
        case ToolResult():
            return replace(part, call_id=ids.get(part.call_id, part.call_id))
    return part


# An unchanged result in another pair, such as a late result that was moved to its call, counts as moved.


ASKED = ("changed", "added", "removed")


@dataclass(frozen=True, slots=True)
class _Changed:
    """The messages in changed rows of one version, by index."""

    keys: dict[int, Hashable]
    results: set[int]
    """The indexes of messages with tool results."""
    paths: dict[int, Path]
    """The path of each message's row."""

    @classmethod
    def of(cls, rows: Iterable[tuple[Sequence[Row], Sequence[Hashable]]]) -> _Changed:
        found = cls({}, set(), {})
        for row, keys in ((row, key) for some, every in rows for row, key in zip(some, every, strict=True)):
            assert isinstance(keys, tuple), "the key of a row is the keys of its messages"
            for place, (shape, key) in enumerate(zip(row.shapes, keys, strict=True), row.start):
                found.keys[place], found.paths[place] = key, row.path
                if shape.role == TOOL:
                    found.results.add(place)
        return found

    def keys_of(self, side: Side, without: set[int]) -> list[Hashable]:
        return [self.keys[place] for place in range(side.start, side.stop) if place not in without]

    def alone(self, side: Side, other: Counter[Hashable]) -> list[int]:
        """Return the results of a group that its other side does not contain."""
        left = Counter(other)
        found = []
        for place in range(side.start, side.stop):
            left[self.keys[place]] -= 1
            if left[self.keys[place]] < 0 and place in self.results:
                found.append(place)
        return found


def find_moved_results(groups: Sequence[Group], gaps: Iterable[RowGap]) -> tuple[list[Group], dict[int, int]]:
    """Return the groups, and the old index of each moved result by its new one. A group whose only change is moved results becomes a
    move itself."""
    gaps = list(gaps)
    old = _Changed.of((gap.old, gap.old_keys) for gap in gaps)
    new = _Changed.of((gap.new, gap.new_keys) for gap in gaps)
    moved = _moved(groups, old, new) if old.results and new.results else {}
    if not moved:
        return list(groups), {}
    back = {before: after for after, before in moved.items()}
    return [_as_move(group, old, new, moved, back) for group in groups], moved


def _moved(groups: Sequence[Group], old: _Changed, new: _Changed) -> dict[int, int]:
    waiting: dict[Hashable, list[tuple[int, int]]] = defaultdict(list)
    came: list[tuple[int, int]] = []
    for number, group in enumerate(groups):
        if group.kind in ASKED:
            befores, afters = Counter(old.keys_of(group.old, set())), Counter(new.keys_of(group.new, set()))
            for place in old.alone(group.old, afters):
                waiting[old.keys[place]].append((place, number))
            came += ((place, number) for place in new.alone(group.new, befores))
    moved = {}
    for place, number in came:
        found = waiting.get(new.keys[place])
        if found and found[0][1] != number:
            moved[place] = found.pop(0)[0]
    return moved


def _as_move(group: Group, old: _Changed, new: _Changed, moved: dict[int, int], back: dict[int, int]) -> Group:
    if group.kind not in ASKED:
        return group
    gone = {place for place in range(group.old.start, group.old.stop) if place in back}
    arrived = {place for place in range(group.new.start, group.new.stop) if place in moved}
    if old.keys_of(group.old, gone) != new.keys_of(group.new, arrived) or bool(gone) == bool(arrived):
        return group
    if gone:
        return replace(group, kind="moved", other=new.paths[back[min(gone)]])
    return group if group.old.stop > group.old.start else replace(group, kind="moved", other=old.paths[moved[min(arrived)]])


NOTHING = Measure()
Kind = Literal["same", "added", "removed", "changed", "moved", "merged", "split", "summarised", "expanded"]


@dataclass(frozen=True, slots=True)
class Side:
    """The rows of a group in one version: messages `start:stop`, nodes `first` to `last`."""

    start: int
    stop: int
    measure: Measure = NOTHING
    first: Path | None = None
    """The path of the first row of this version in the group, or None if it has none."""
    last: Path | None = None

    @property
    def is_empty(self) -> bool:
        return self.start == self.stop

    def holds(self, path: Path | None) -> bool:
        """Return True if the side contains a node."""
        return bool(path and self.first and self.last and self.first <= path <= self.last)


@dataclass(frozen=True, slots=True)
class Group:
    kind: Kind
    old: Side
    new: Side
    other: Path | None = None
    """The path in the other version, for moved rows and results. A move is listed twice, once for each side; see `is_departure`."""

    @property
    def anchor(self) -> str:
        """The name of the group in this comparison, for links and for next and previous."""
        if self.new.first:
            return f"new-{self.new.first.dom_id}"
        return f"old-{self.old.first.dom_id}" if self.old.first else ""

    @property
    def is_departure(self) -> bool:
        """Whether this is the old place of a move. The change is shown at the new place."""
        return self.kind == "moved" and not self.old.is_empty

    @property
    def is_change(self) -> bool:
        return self.kind != "same" and not self.is_departure


class FirstDifference(NamedTuple):
    """The place at which two chains start to differ."""

    old: Path | None
    """The first node of the old chain that differs; None if the new chain only has additional nodes there."""
    new: Path | None
    change: int
    """The number of the change that contains it, from 1."""


def first_difference(groups: Iterable[Group]) -> FirstDifference | None:
    """Return the first difference, or None if all groups are the same."""
    left = dropwhile(lambda group: group.kind == "same", groups)
    here = next(left, None)
    if here is None:
        return None
    if here.is_departure:
        changes = enumerate((group for group in left if group.is_change), 1)
        number = next((number for number, group in changes if group.new.holds(here.other)), 1)
        return FirstDifference(here.old.first, here.other, number)
    if here.kind == "moved":
        return FirstDifference(here.other, here.new.first, 1)
    differing = [here, *takewhile(lambda group: group.kind not in ("same", "moved"), left)]
    old = next((group.old.first for group in differing if group.old.first), None)
    new = next((group.new.first for group in differing if group.new.first), None)
    return FirstDifference(old, new, 1)


@dataclass(frozen=True, slots=True)
class RowGap:
    """The changed rows between two equal ranges."""

    old: Sequence[Row]
    new: Sequence[Row]
    old_keys: Sequence[Hashable]
    new_keys: Sequence[Hashable]
    old_place: int
    """The number of messages before the gap."""
    new_place: int


@dataclass(frozen=True, slots=True)
class Moves:
    """Unchanged rows that moved. Maps the index of a row's first message to the row in the other version."""

    to: dict[int, Row]
    origin: dict[int, Row]


def find_moves(gaps: Iterable[RowGap]) -> Moves:
    gaps = list(gaps)
    waiting: dict[Hashable, list[Row]] = defaultdict(list)
    for gap in gaps:
        for row, key in zip(gap.old, gap.old_keys, strict=True):
            waiting[key].append(row)
    for rows in waiting.values():
        rows.reverse()
    moves = Moves({}, {})
    for gap in gaps:
        for row, key in zip(gap.new, gap.new_keys, strict=True):
            if waiting.get(key):
                old = waiting[key].pop()
                moves.to[old.start], moves.origin[row.start] = row, old
    return moves


def groups_of(gap: RowGap, moves: Moves, reading: Reading) -> Iterator[Group]:
    """Yield the groups of a gap; each row is in one group. Between two matches, removed rows precede added ones."""
    olds = [row for row in gap.old if row.start not in moves.to]
    news = [row for row in gap.new if row.start not in moves.origin]
    i = k = 0
    old_place, new_place = gap.old_place, gap.new_place
    for match in [*match_rows(olds, news, reading), None]:
        old, new = _matched(match, olds, news)
        went, i = _until(gap.old, i, old)
        came, k = _until(gap.new, k, new)
        for run, there in _runs(went, moves.to):
            yield Group("moved" if there else "removed", side_of(run), Side(new_place, new_place), there)
            old_place = run[-1].stop
        for run, there in _runs(came, moves.origin):
            yield Group("moved" if there else "added", Side(old_place, old_place), side_of(run), there)
            new_place = run[-1].stop
        if match:
            yield Group(match.kind, side_of(old), side_of(new))
            i, k = i + len(old), k + len(new)
            old_place, new_place = old[-1].stop, new[-1].stop


def _matched(match: Match | None, olds: Sequence[Row], news: Sequence[Row]) -> tuple[Sequence[Row], Sequence[Row]]:
    if match is None:
        return (), ()
    return olds[match.old_start : match.old_stop], news[match.new_start : match.new_stop]


def _until(rows: Sequence[Row], place: int, matched: Sequence[Row]) -> tuple[Sequence[Row], int]:
    """Return the rows from `place` up to the first matched row, or all rows if none is matched, and the index after them."""
    stop = place
    while stop < len(rows) and not (matched and rows[stop].start == matched[0].start):
        stop += 1
    return rows[place:stop], stop


def _runs(rows: Sequence[Row], moved: dict[int, Row]) -> Iterator[tuple[list[Row], Path | None]]:
    """Yield each row on its own, but consecutive moved rows together if they are also consecutive in the other version."""
    run: list[Row] = []
    for row in rows:
        there = moved.get(row.start)
        if run and there and moved[run[-1].start].stop == there.start:
            run.append(row)
            continue
        if run:
            yield run, moved[run[0].start].path
        run = [row] if there else []
        if not there:
            yield [row], None
    if run:
        yield run, moved[run[0].start].path


def side_of(rows: Sequence[Row]) -> Side:
    measure = Measure(rows[-1].stop - rows[0].start, sum([row.is_pair for row in rows]), sum([row.size for row in rows]))
    return Side(rows[0].start, rows[-1].stop, measure, rows[0].path, rows[-1].path)
