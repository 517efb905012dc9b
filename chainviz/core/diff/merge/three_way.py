"""Three-way merge of lists: combine the changes of two sides of a base. If both changed the same row, a person chooses.

Items are compared by keys, and the base says where its rows begin and end; the module knows nothing of messages. Indexes are those
of the base.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Generic, Protocol, TypeVar

from chainviz.core.diff.align import Gap, align
from chainviz.core.diff.merge.items import CHOICES, SIDES, Choice
from chainviz.core.diff.merge.messages import Contents, Joining, Keyed, Resolution, resolve

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Change(Generic[Item]):
    """`items` replace `start : start + removed` of the base. Changes come in order and do not overlap."""

    start: int
    removed: int
    items: tuple[Item, ...] = ()


class Base(Joining[Item], Protocol[Item]):
    """The list that both sides changed."""

    def __len__(self) -> int: ...

    def slice(self, start: int, stop: int) -> Sequence[Item]: ...

    def span(self, place: int) -> tuple[int, int]:
        """Return start and stop of the row that contains this item."""

    def continue_rows(self, items: Sequence[Item]) -> Sequence[bool]:
        """Return for each item whether it belongs to the row of the item before it."""

    def keys(self, items: Sequence[Item]) -> Sequence[Hashable]:
        """Return a key for each item. Items with equal keys are equal."""


@dataclass(frozen=True, slots=True)
class Region(Generic[Item]):
    """Rows `start : stop` of the base, or the gap before `start`, with the changes of both sides there."""

    start: int
    stop: int
    mine: tuple[Change[Item], ...]
    theirs: tuple[Change[Item], ...]

    @property
    def is_shared(self) -> bool:
        return bool(self.mine and self.theirs)

    @property
    def may_move(self) -> bool:
        """Whether rows may have moved into or out of the region: its items were not just replaced one for one."""
        return any(each.removed != len(each.items) for each in (*self.mine, *self.theirs))


@dataclass(frozen=True)
class Conflict(Generic[Item]):
    """Rows that both sides changed. The old and the new place of moved rows form one conflict."""

    places: tuple[int, ...]
    """The indexes of its regions in the merge."""
    contents: tuple[Contents[Item], ...] = ()
    """The contents of its regions; none if one side is chosen as a whole."""
    joining: Joining[Item] | None = None

    @cached_property
    def resolution(self) -> Resolution[Item] | None:
        """The joined result, or None if one side is chosen as a whole. Computed on demand, because it may read items."""
        return resolve(self.contents, self.joining) if self.joining is not None else None

    @property
    def is_settled(self) -> bool:
        """Whether the sides changed different items, or different parts of them, so that there is nothing to choose."""
        return self.resolution is not None and not self.resolution.merged.has_conflicts

    @property
    def keeps_other_parts(self) -> bool:
        """Whether the choice of one side keeps the other side's changes in other parts of the row."""
        if self.resolution is None:
            return False
        merged = self.resolution.merged
        sides = [tuple(getattr(each, side).items for each in self.contents) for side in SIDES]
        return [merged.mine, merged.theirs] != sides

    def offers(self, choice: str) -> bool:
        return choice in self.choices

    @property
    def choices(self) -> tuple[Choice, ...]:
        return SIDES if self.resolution is None else self.resolution.merged.choices


@dataclass(frozen=True)
class Merge(Generic[Item]):
    regions: tuple[Region[Item], ...]
    shared: tuple[Conflict[Item], ...] = ()
    """Rows that both sides changed in different ways."""

    @cached_property
    def conflicts(self) -> tuple[Conflict[Item], ...]:
        """The conflicts that a person decides."""
        return tuple(each for each in self.shared if not each.is_settled)

    def changes(self, choices: Sequence[Choice]) -> list[Change[Item]]:
        """Return the merged changes. `choices` has one choice for each conflict. Raises ValueError for a choice that is not offered."""
        settled = [(each, CHOICES[-1]) for each in self.shared if each.is_settled]
        found: dict[int, tuple[Change[Item], ...]] = {}
        for conflict, choice in (*settled, *zip(self.conflicts, choices, strict=True)):
            found |= zip(conflict.places, self._chosen(conflict, choice), strict=True)
        return self._with(found)

    def changes_of_mine(self) -> list[Change[Item]]:
        """Return the changes with my version in every row that both sides changed."""
        return self._with({place: self.regions[place].mine for each in self.shared for place in each.places})

    def _chosen(self, conflict: Conflict[Item], choice: Choice) -> Iterator[tuple[Change[Item], ...]]:
        if not conflict.offers(choice):
            raise ValueError(f"{choice} is not offered for this conflict")
        regions = [self.regions[place] for place in conflict.places]
        if conflict.resolution is None:
            yield from (region.mine if choice == "mine" else region.theirs for region in regions)
            return
        for region, items in zip(regions, conflict.resolution.merged.chosen(choice), strict=True):
            yield (Change(region.start, region.stop - region.start, items),)

    def _with(self, found: Mapping[int, tuple[Change[Item], ...]]) -> list[Change[Item]]:
        # equal changes of both sides do not conflict
        return [change for i, each in enumerate(self.regions) for change in found.get(i, each.theirs or each.mine)]


def merge(base: Base[Item], mine: Iterable[Change[Item]], theirs: Iterable[Change[Item]]) -> Merge[Item]:
    """Merge the changes of both sides. Reads items only if both sides changed the same rows, or rows may have moved."""
    regions = list(_regions(base, mine, theirs))
    shared = [each for each in regions if each.is_shared]
    if not shared:
        return Merge(tuple(regions))
    finer = _regions(base, *(_refined(base, [c for r in shared for c in getattr(r, side)]) for side in SIDES))
    regions = sorted([*(each for each in regions if not each.is_shared), *finer], key=lambda each: (each.start, each.stop))
    contents = _contents(base, {i: each for i, each in enumerate(regions) if each.is_shared or each.may_move})
    disputed = [i for i, each in enumerate(regions) if each.is_shared and contents[i].is_disputed]
    groups = _together(disputed, contents)
    return Merge(tuple(regions), tuple(Conflict(each, tuple(contents[i] for i in each), base) for each in groups))


# changes


def _refined(base: Base[Item], changes: Sequence[Change[Item]]) -> Iterator[Change[Item]]:
    """Yield the changes without unchanged items, and row by row if items were replaced one for one."""
    sides = [side for each in changes for side in (base.slice(each.start, each.start + each.removed), each.items)]
    keys = iter(base.keys([item for side in sides for item in side]))
    for change in changes:
        before, after = list(islice(keys, change.removed)), list(islice(keys, len(change.items)))
        for gap in align(before, after).steps():
            if isinstance(gap, Gap):
                items = change.items[gap.new_start : gap.new_stop]
                yield from _by_rows(base, Change(change.start + gap.old_start, gap.old_stop - gap.old_start, items))


def _by_rows(base: Base[Item], change: Change[Item]) -> Iterator[Change[Item]]:
    count = change.removed
    begins = [i for i in range(1, count) if base.span(change.start + i)[0] == change.start + i]
    if count != len(change.items) or not begins:
        yield change
        return
    continues = base.continue_rows(change.items)
    if begins != [i for i in range(1, count) if not continues[i]]:
        yield change
        return
    for first, stop in pairwise((0, *begins, count)):
        yield Change(change.start + first, stop - first, change.items[first:stop])


# regions


def _regions(base: Base[Item], mine: Iterable[Change[Item]], theirs: Iterable[Change[Item]]) -> Iterator[Region[Item]]:
    """Yield the regions that the sides changed. Changes that touch the same rows are in one region."""
    extents = [(*_extent(base, each), True, each) for each in mine]
    extents += [(*_extent(base, each), False, each) for each in theirs]
    extents.sort(key=lambda each: each[:2])
    held: list[tuple[bool, Change[Item]]] = []
    low = high = -1
    for first, last, is_mine, change in extents:
        if held and first > high:
            yield _region(low, high, held)
            held = []
        low, high = (min(low, first), max(high, last)) if held else (first, last)
        held.append((is_mine, change))
    if held:
        yield _region(low, high, held)


def _region(low: int, high: int, held: list[tuple[bool, Change[Item]]]) -> Region[Item]:
    mine, theirs = (tuple(change for is_mine, change in held if is_mine is side) for side in (True, False))
    return Region(low // 2, (high + 1) // 2, mine, theirs)


def _extent(base: Base[Item], change: Change[Item]) -> tuple[int, int]:
    """Return the range that a change touches, in half steps: the gap before item n is 2n, the item itself 2n + 1."""
    start, stop = change.start, change.start + change.removed
    if change.removed:
        return 2 * base.span(start)[0] + 1, 2 * base.span(stop - 1)[1] - 1
    if start < len(base) and (row := base.span(start))[0] < start:
        return 2 * row[0] + 1, 2 * row[1] - 1
    if start and change.items and base.continue_rows(change.items[:1])[0]:
        return 2 * base.span(start - 1)[0] + 1, 2 * start
    return 2 * start, 2 * start


# conflicts


def _contents(base: Base[Item], regions: Mapping[int, Region[Item]]) -> dict[int, Contents[Item]]:
    sides: list[list[Item]] = []
    for region in regions.values():
        items = base.slice(region.start, region.stop)
        sides += (list(_changed(items, region.start, changes)) for changes in ((), region.mine, region.theirs))
    keys = iter(base.keys([item for side in sides for item in side]))
    keyed = [Keyed(tuple(side), tuple(islice(keys, len(side)))) for side in sides]
    return {place: Contents(*keyed[3 * i : 3 * i + 3]) for i, place in enumerate(regions)}


def _changed(items: Sequence[Item], start: int, changes: Iterable[Change[Item]]) -> Iterator[Item]:
    """Yield the items after the changes. The first item is at `start`."""
    place = 0
    for change in changes:
        yield from items[place : change.start - start]
        yield from change.items
        place = change.start - start + change.removed
    yield from items[place:]


def _together(disputed: Sequence[int], contents: Mapping[int, Contents[Item]]) -> Iterator[tuple[int, ...]]:
    """Yield the disputed regions, each with the regions that a side moved rows to or from."""
    moves = _moves(contents) if disputed else {}
    seen: set[int] = set()
    for first in disputed:
        if first in seen:
            continue
        group, waiting = {first}, [first]
        while waiting:
            found = moves.get(waiting.pop(), set()) - group
            group |= found
            waiting += found
        seen |= group
        yield tuple(sorted(group))


def _moves(contents: Mapping[int, Contents[Item]]) -> dict[int, set[int]]:
    """Return, for each region, the regions to which its items moved and from which its new items came."""
    linked: dict[int, set[int]] = defaultdict(set)
    for side in SIDES:
        came: dict[Hashable, int] = {}
        gone: list[tuple[int, Hashable]] = []
        for i, each in contents.items():
            before, after = Counter(each.base.keys), Counter(getattr(each, side).keys)
            came |= dict.fromkeys(after - before, i)
            gone += ((i, key) for key in before - after)
        for i, key in gone:
            if came.get(key, i) != i:
                linked[i].add(came[key])
                linked[came[key]].add(i)
    return linked
