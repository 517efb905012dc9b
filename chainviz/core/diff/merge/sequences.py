"""Keep the changes of both sides of a conflict: item by item, by repeating one side's changes in the other, or one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

from chainviz.core.diff.align import Equal, Gap, align
from chainviz.core.diff.merge.items import Merged

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Keyed(Generic[Item]):
    items: tuple[Item, ...]
    keys: tuple[Hashable, ...]
    """Keys of the items. Items with equal keys are equal."""

    def replaced(self, start: int, stop: int, put: Keyed[Item]) -> Keyed[Item]:
        items, keys = self.items, self.keys
        return Keyed(items[:start] + put.items + items[stop:], keys[:start] + put.keys + keys[stop:])


@dataclass(frozen=True, slots=True)
class Contents(Generic[Item]):
    """A range of the base, and the version of it on each side."""

    base: Keyed[Item]
    mine: Keyed[Item]
    theirs: Keyed[Item]

    @property
    def is_disputed(self) -> bool:
        return self.mine.keys != self.theirs.keys


class _Spot(NamedTuple):
    """A position in one side's version of a range."""

    stretch: int
    place: int


@dataclass(frozen=True, slots=True)
class Resolution(Generic[Item]):
    """The ranges of a conflict after each choice."""

    merged: Merged[tuple[tuple[Item, ...], ...]]
    is_joined: bool = True
    """For the choice both: True if one side's changes were repeated in the other; False if the range is there twice, mine first."""


class Joining(Protocol[Item]):
    """How to merge items that both sides changed."""

    def merged(self, stretch: Contents[Item]) -> Merged[tuple[Item, ...]] | None:
        """Merge a range item by item. Returns None if only one side's whole range can be kept."""

    def may_repeat(self, mine: Sequence[Item], theirs: Sequence[Item]) -> bool:
        """Return True if both versions may be kept, although each contains items that the other removed."""


def resolve(stretches: Sequence[Contents[Item]], joining: Joining[Item]) -> Resolution[Item]:
    """Keep both sides item by item; or repeat one side's changes in the other, if that still has all items they replace; or put one
    version after the other."""
    mine, theirs = (tuple(getattr(each, side).items for each in stretches) for side in ("mine", "theirs"))
    merged = joining.merged(stretches[0]) if len(stretches) == 1 else None
    if merged is not None:
        mine, theirs = (merged.mine,), (merged.theirs,)
        if merged.both is not None:
            return Resolution(Merged(mine, theirs, (merged.both,), merged.has_conflicts))
    both = _carried_over(stretches)
    if both is not None or len(stretches) > 1:
        return Resolution(Merged(mine, theirs, both, has_conflicts=True))
    beside = _beside(stretches[0], joining)
    return Resolution(Merged(mine, theirs, None if beside is None else (beside,), has_conflicts=True), is_joined=False)


def _carried_over(stretches: Sequence[Contents[Item]]) -> tuple[tuple[Item, ...], ...] | None:
    """Repeat the changes of one side in the other. Return None if a side no longer contains what the other changed, or the result equals
    one of the sides."""
    base, mine, theirs = ([getattr(each, side) for each in stretches] for side in ("base", "mine", "theirs"))
    found = _onto(base, mine, theirs) or _onto(base, theirs, mine)
    if found is None or any([each.keys for each in found] == [each.keys for each in side] for side in (mine, theirs)):
        return None
    return tuple(each.items for each in found)


def _beside(stretch: Contents[Item], joining: Joining[Item]) -> tuple[Item, ...] | None:
    mine, theirs = stretch.mine.items, stretch.theirs.items
    is_replaced = bool(stretch.base.items)
    if not mine or not theirs or (is_replaced and not joining.may_repeat(mine, theirs)):
        return None
    return (*mine, *theirs)


def _onto(base: Sequence[Keyed[Item]], host: Sequence[Keyed[Item]], guest: Sequence[Keyed[Item]]) -> list[Keyed[Item]] | None:
    """Repeat the changes of `guest` in `host`. Return None if the host no longer contains the items that they replace or adjoin."""
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
    """Return the position in the host of each base item, even if the item moved."""
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
    """Return the position in the host at which a gap of the guest begins; None if the items there are no longer consecutive."""
    if gap.old_start == gap.old_stop:
        after, before = spots.get(_Spot(stretch, gap.old_start)), spots.get(_Spot(stretch, gap.old_start - 1))
        return after or (before and _Spot(before.stretch, before.place + 1))
    held = [spots.get(_Spot(stretch, i)) for i in range(gap.old_start, gap.old_stop)]
    first = held[0]
    if first is None or held != [_Spot(first.stretch, first.place + i) for i in range(len(held))]:
        return None
    return first
