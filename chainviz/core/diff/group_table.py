"""The groups of a comparison, stored as numbers, so that a page builds only the groups that it shows."""

from __future__ import annotations

import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args, overload

from chainviz.core.chain.paths import Path
from chainviz.core.diff.groups import Group, Kind, Side
from chainviz.core.diff.rows import Measure

_TYPE = "q"
_KINDS: tuple[Kind, ...] = get_args(Kind)
_SAME, _MOVED = _KINDS.index("same"), _KINDS.index("moved")
_NO_NUMBER = -1
_PATH = 4
"""The numbers that store a path: section, pair, message, part."""
_SIDE = 5 + 2 * _PATH
"""The numbers that store a side: start, stop, measure (3), first and last path."""
_PAIRS = 3
"""The index of the number of pairs among the numbers of a side."""
_OLD, _NEW, _OTHER = 1, 1 + _SIDE, 1 + 2 * _SIDE
_GROUP = _OTHER + _PATH
"""The numbers that store a group: kind, both sides, other path."""


class GroupTable(Sequence[Group]):
    def __init__(self, numbers: array[int]) -> None:
        self._numbers = numbers

    @classmethod
    def of(cls, groups: Iterable[Group]) -> GroupTable:
        if isinstance(groups, GroupTable):
            return groups
        numbers = array(_TYPE)
        for each in groups:
            numbers.extend((_KINDS.index(each.kind), *_side(each.old), *_side(each.new), *_path(each.other)))
        return cls(numbers)

    @classmethod
    def unpack(cls, packed: bytes) -> GroupTable:
        return cls(array(_TYPE, zlib.decompress(packed)))

    def pack(self) -> bytes:
        return zlib.compress(self._numbers.tobytes(), 1)

    def __len__(self) -> int:
        return len(self._numbers) // _GROUP

    @overload
    def __getitem__(self, place: int) -> Group: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Group]: ...
    def __getitem__(self, place: int | slice) -> Group | Sequence[Group]:
        found = range(len(self))[place]
        if isinstance(found, int):
            return _group(self._numbers[found * _GROUP : (found + 1) * _GROUP])
        return Picked(self, found)

    def __iter__(self) -> Iterator[Group]:
        return iter(self._all)

    @cached_property
    def _all(self) -> tuple[Group, ...]:
        return tuple(map(_group, zip(*[iter(self._numbers)] * _GROUP, strict=True)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GroupTable) and self._numbers == other._numbers

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def changes(self) -> Picked:
        """Return the groups whose `is_change` is true."""
        return Picked(self, [place for place, (kind, is_left, _) in enumerate(self._kinds()) if kind != _SAME and not is_left])

    @cached_property
    def visible(self) -> Picked:
        """Return the groups that a page lists. A moved group is listed once, at its new position; a row that lost a result is listed
        too."""
        return Picked(self, [place for place, (_, is_left, is_gone) in enumerate(self._kinds()) if not (is_left and is_gone)])

    @cached_property
    def counts(self) -> dict[Kind, int]:
        """Count the changes of each kind."""
        kinds = self._numbers[::_GROUP]
        return {_KINDS[kind]: count for kind, count in Counter(kinds[place] for place in self.changes.places).items()}

    def pairs_alone(self, kind: Literal["removed", "added"]) -> int:
        """Return the number of pairs in groups that only one side has."""
        pairs = self._numbers[(_OLD if kind == "removed" else _NEW) + _PAIRS :: _GROUP]
        return sum(count for each, count in zip(self._numbers[::_GROUP], pairs, strict=True) if _KINDS[each] == kind)

    def same_at(self, start: int) -> Group | None:
        """Return the unchanged group that starts at this message of the new chain; None if there is none."""
        kinds, starts = self._numbers[::_GROUP], self._numbers[_NEW::_GROUP]
        found = (place for place, (kind, at) in enumerate(zip(kinds, starts, strict=True)) if kind == _SAME and at == start)
        return next((self[place] for place in found), None)

    def _kinds(self) -> Iterator[tuple[int, bool, bool]]:
        """Yield for each group its kind, whether it is the old position of a moved group, and whether its new side is empty."""
        kinds, old, old_stop, new, new_stop = (self._numbers[column::_GROUP] for column in (0, _OLD, _OLD + 1, _NEW, _NEW + 1))
        for kind, start, stop, new_start, end in zip(kinds, old, old_stop, new, new_stop, strict=True):
            yield kind, kind == _MOVED and start != stop, new_start == end


class Picked(Sequence[Group]):
    """Some groups of a table, in its order."""

    def __init__(self, table: GroupTable, places: Sequence[int]) -> None:
        self._table = table
        self.places = places

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, place: int) -> Group: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Group]: ...
    def __getitem__(self, place: int | slice) -> Group | Sequence[Group]:
        if isinstance(place, slice):
            return Picked(self._table, self.places[place])
        return self._table[self.places[place]]


def _group(numbers: Sequence[int]) -> Group:
    return Group(_KINDS[numbers[0]], _side_at(numbers, _OLD), _side_at(numbers, _NEW), _path_at(numbers, _OTHER))


def _side(side: Side) -> tuple[int, ...]:
    return (side.start, side.stop, *side.measure, *_path(side.first), *_path(side.last))


def _path(path: Path | None) -> tuple[int, ...]:
    numbers = (None,) * _PATH if path is None else (path.section, path.pair, path.message, path.part)
    return tuple(_NO_NUMBER if number is None else number for number in numbers)


def _side_at(numbers: Sequence[int], at: int) -> Side:
    start, stop, messages, pairs, size = numbers[at : at + 5]
    first, last = _path_at(numbers, at + 5), _path_at(numbers, at + 5 + _PATH)
    return Side(start, stop, Measure(messages, pairs, size), first, last)


def _path_at(numbers: Sequence[int], at: int) -> Path | None:
    section, pair, message, part = numbers[at : at + _PATH]
    if section == _NO_NUMBER:
        return None
    return Path(section, *(None if each == _NO_NUMBER else each for each in (pair, message, part)))


MOST_CELLS = 50
"""The most cells for each of the two chains."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Consecutive groups that are drawn together, because they are of one kind or too small to draw alone."""

    kind: Kind
    """The kind of most of its messages: same, moved, added, removed, or changed for all others. A cell is added or removed only if all
    its messages are in one chain."""
    old: range
    """Messages of the old chain; may be empty."""
    new: range
    first: int
    """The number of its first change, from 1; 0 if nothing changed."""
    changes: int
    group: Group
    """Its first changed group, or its first group if nothing changed."""


def cells_of(groups: Sequence[Group], before: int, after: int) -> list[Cell]:
    """Return the cells in the order of both chains. `before` and `after` are the lengths of the chains in messages."""
    runs = _runs(groups, (max(1, before) / MOST_CELLS, max(1, after) / MOST_CELLS))
    cells, number = [], 0
    for run in runs:
        changes = [group for group in run if group.is_change]
        cells.append(_cell(run, changes, number + 1 if changes else 0))
        number += len(changes)
    return cells


def _runs(groups: Sequence[Group], least: tuple[float, float]) -> Iterator[list[Group]]:
    """Yield runs of groups of one kind. Runs that are too small to be seen are joined, whatever their kinds."""
    run: list[Group] = []
    for group in groups:
        if run and _kind(run[-1]) != _kind(group) and _is_wide(run, least):
            yield run
            run = []
        run.append(group)
    if run:
        yield run


def _is_wide(run: Sequence[Group], least: tuple[float, float]) -> bool:
    old, new = run[-1].old.stop - run[0].old.start, run[-1].new.stop - run[0].new.start
    return old >= least[0] or new >= least[1]


def _cell(run: Sequence[Group], changes: Sequence[Group], first: int) -> Cell:
    weights: Counter[Kind] = Counter()
    for group in run:
        weights[_kind(group)] += max(1, group.old.stop - group.old.start, group.new.stop - group.new.start)
    if changes:  # a difference must be visible, however small
        del weights["same"]
    old, new = range(run[0].old.start, run[-1].old.stop), range(run[0].new.start, run[-1].new.stop)
    kind = max(weights, key=lambda kind: weights[kind])
    return Cell(
        kind="changed" if kind in ("added", "removed") and old and new else kind,
        old=old,
        new=new,
        first=first,
        changes=len(changes),
        group=(changes or run)[0],
    )


def _kind(group: Group) -> Kind:
    return group.kind if group.kind in ("same", "moved", "added", "removed") else "changed"
