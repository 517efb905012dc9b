"""Tool results that are unchanged in another pair, as where a late result was put behind its call: moves, not changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.messages import TOOL
from chainviz.core.chain.paths import Path
from chainviz.core.diff.groups import Group, RowGap, Side
from chainviz.core.diff.rows import Row

ASKED = ("changed", "added", "removed")


@dataclass(frozen=True, slots=True)
class _Changed:
    """The messages of changed rows of one version, by their places."""

    keys: dict[int, Hashable]
    results: set[int]
    """Those that hold tool results."""
    paths: dict[int, Path]
    """Of their rows."""

    @classmethod
    def of(cls, rows: Iterable[tuple[Sequence[Row], Sequence[Hashable]]]) -> _Changed:
        found = cls({}, set(), {})
        for row, keys in ((row, key) for some, every in rows for row, key in zip(some, every, strict=True)):
            assert isinstance(keys, tuple), "the key of a row holds those of its messages"
            for place, (shape, key) in enumerate(zip(row.shapes, keys, strict=True), row.start):
                found.keys[place], found.paths[place] = key, row.path
                if shape.role == TOOL:
                    found.results.add(place)
        return found

    def keys_of(self, side: Side, without: set[int]) -> list[Hashable]:
        return [self.keys[place] for place in range(side.start, side.stop) if place not in without]

    def alone(self, side: Side, other: Counter[Hashable]) -> list[int]:
        """The results of a group that its other side does not hold."""
        left = Counter(other)
        found = []
        for place in range(side.start, side.stop):
            left[self.keys[place]] -= 1
            if left[self.keys[place]] < 0 and place in self.results:
                found.append(place)
        return found


def find_moved_results(groups: Sequence[Group], gaps: Iterable[RowGap]) -> tuple[list[Group], dict[int, int]]:
    """Returns the groups, and the places of moved results: where they are now, and where they were. A group from which
    nothing but such results is missing, or which is nothing else, is a move itself."""
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
