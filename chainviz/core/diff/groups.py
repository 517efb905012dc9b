"""Group the rows between two equal ranges as matched, moved, removed or added, in the order of both chains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import dropwhile, takewhile
from typing import Literal, NamedTuple

from chainviz.core.chain.paths import Path
from chainviz.core.diff.matching import Match, Reading, match_rows
from chainviz.core.diff.rows import Measure, Row

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
