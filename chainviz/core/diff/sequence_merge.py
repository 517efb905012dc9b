"""Keeps the changes of two sides of one base: those of one carried over to the other, or one side behind the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from chainviz.core.diff.align import Equal, Gap, align

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Keyed(Generic[Item]):
    items: tuple[Item, ...]
    keys: tuple[Hashable, ...]
    """Equal keys, equal items."""

    def replaced(self, start: int, stop: int, put: Keyed[Item]) -> Keyed[Item]:
        items, keys = self.items, self.keys
        return Keyed(items[:start] + put.items + items[stop:], keys[:start] + put.keys + keys[stop:])


@dataclass(frozen=True, slots=True)
class Contents(Generic[Item]):
    """A stretch of the base, and what either side made of it."""

    base: Keyed[Item]
    mine: Keyed[Item]
    theirs: Keyed[Item]

    @property
    def is_disputed(self) -> bool:
        return self.mine.keys != self.theirs.keys


class _Spot(NamedTuple):
    """A place in what a side made of a stretch."""

    stretch: int
    place: int


@dataclass(frozen=True, slots=True)
class Both(Generic[Item]):
    """What keeps the changes of both sides."""

    stretches: tuple[tuple[Item, ...], ...]
    is_joined: bool
    """The changes of one side were carried over to the other; else the stretch is there twice: mine, then theirs."""


def carried_over(stretches: Sequence[Contents[Item]]) -> Both[Item] | None:
    """The changes of one side are carried over to the other where that still holds all they replace. Returns None where both
    sides cannot be kept: the same as one of them would come out, or moved items would be there twice."""
    base, mine, theirs = ([getattr(each, side) for each in stretches] for side in ("base", "mine", "theirs"))
    found = _onto(base, mine, theirs) or _onto(base, theirs, mine)
    is_joined = found is not None
    if found is None and len(stretches) == 1 and mine[0].keys and theirs[0].keys:
        end = len(mine[0].keys)
        found = [mine[0].replaced(end, end, theirs[0])]
    if found is None or any([each.keys for each in found] == [each.keys for each in side] for side in (mine, theirs)):
        return None
    return Both(tuple(each.items for each in found), is_joined)


def _onto(
    base: Sequence[Keyed[Item]], host: Sequence[Keyed[Item]], guest: Sequence[Keyed[Item]]
) -> list[Keyed[Item]] | None:
    """Makes the changes of `guest` in `host`. None where the host no longer has what they replace or stand beside."""
    spots = _spots(base, host)
    edits: list[tuple[_Spot, int, Keyed[Item]]] = []
    for i, (before, after) in enumerate(zip(base, guest, strict=True)):
        for gap in _gaps(before, after):
            spot = _spot(spots, i, gap)
            if spot is None:
                return None
            put_in = slice(gap.new_start, gap.new_stop)
            edits.append((spot, gap.old_stop - gap.old_start, Keyed(after.items[put_in], after.keys[put_in])))
    result = list(host)
    edits.sort(key=lambda edit: edit[:2])
    for spot, removed, put in reversed(edits):
        result[spot.stretch] = result[spot.stretch].replaced(spot.place, spot.place + removed, put)
    return result


def _gaps(before: Keyed[Item], after: Keyed[Item]) -> Iterator[Gap]:
    return (step for step in align(before.keys, after.keys).steps() if isinstance(step, Gap))


def _spots(base: Sequence[Keyed[Item]], host: Sequence[Keyed[Item]]) -> dict[_Spot, _Spot]:
    """Where the host has each item of the base: in its place, or moved."""
    found: dict[_Spot, _Spot] = {}
    free: dict[Hashable, list[_Spot]] = defaultdict(list)
    missing: list[tuple[Hashable, _Spot]] = []
    for i, (before, after) in enumerate(zip(base, host, strict=True)):
        for step in align(before.keys, after.keys).steps():
            if isinstance(step, Equal):
                found |= {_Spot(i, step.old + k): _Spot(i, step.new + k) for k in range(step.length)}
                continue
            missing += [(before.keys[k], _Spot(i, k)) for k in range(step.old_start, step.old_stop)]
            for k in range(step.new_start, step.new_stop):
                free[after.keys[k]].append(_Spot(i, k))
    for key, spot in missing:
        if free[key]:
            found[spot] = free[key].pop(0)
    return found


def _spot(spots: dict[_Spot, _Spot], stretch: int, gap: Gap) -> _Spot | None:
    """Where in the host a gap of the guest begins."""
    if gap.old_start == gap.old_stop:
        after, before = spots.get(_Spot(stretch, gap.old_start)), spots.get(_Spot(stretch, gap.old_start - 1))
        return after or (before and _Spot(before.stretch, before.place + 1))
    held = [spots.get(_Spot(stretch, i)) for i in range(gap.old_start, gap.old_stop)]
    first = held[0]
    if first is None or held != [_Spot(first.stretch, first.place + i) for i in range(len(held))]:
        return None
    return first
