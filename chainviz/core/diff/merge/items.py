"""Three-way merge item by item, for the parts of a message or the messages of a row. Changes of different items are all kept; only
changes of the same item, or in the same gap, conflict."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

from chainviz.core.diff.align import Gap, align

Value = TypeVar("Value")
Choice = Literal["mine", "theirs", "both"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
SIDES = CHOICES[:2]


@dataclass(frozen=True, slots=True)
class Merged(Generic[Value]):
    mine: Value
    """The changes of both sides, with mine in each conflict."""
    theirs: Value
    """The changes of both sides, with theirs in each conflict."""
    both: Value | None
    """The changes of both sides, with both in each conflict; None if both cannot be kept."""
    has_conflicts: bool
    """Both sides changed the same item. Without conflicts, `mine`, `theirs` and `both` are equal."""

    @property
    def choices(self) -> tuple[Choice, ...]:
        return SIDES if self.both is None else CHOICES

    def chosen(self, choice: Choice) -> Value:
        """Return the value for a choice. Raises ValueError if both cannot be kept."""
        found = {"mine": self.mine, "theirs": self.theirs, "both": self.both}[choice]
        if found is None:
            raise ValueError("both is not offered for this conflict")
        return found


def settled(value: Value) -> Merged[Value]:
    return Merged(value, value, value, has_conflicts=False)


Item = TypeVar("Item")
Join = Callable[[Item, Item, Item], Merged[tuple[Item, ...]] | None]
"""Merges an item that both sides changed, given as base, mine and theirs. Returns None if only one version can be kept."""


class Keys(NamedTuple):
    """The keys by which items are paired, the strictest first."""

    content: Hashable
    """Equal if the items are equal."""
    identity: Hashable
    """Equal if one item is certainly a changed version of the other, such as calls with the same id."""
    kind: Hashable
    """Equal if one item may be a changed version of the other."""


@dataclass(frozen=True, slots=True)
class Entry(Generic[Item]):
    item: Item
    keys: Keys


@dataclass(frozen=True, slots=True)
class _Slot(Generic[Item]):
    """One side's version of an item of the base, and the items that it added before that item."""

    added: tuple[Entry[Item], ...] = ()
    kept: Entry[Item] | None = None


def merge_items(
    base: Sequence[Entry[Item]], mine: Sequence[Entry[Item]], theirs: Sequence[Entry[Item]], join: Join[Item]
) -> Merged[tuple[Item, ...]]:
    own, other = _slots(base, mine), _slots(base, theirs)
    found: list[Merged[tuple[Item, ...]]] = []
    for old, one, two in zip(base, own, other, strict=False):
        found += (_merged_gap(one.added, two.added), _merged_item(old, one.kept, two.kept, join))
    found.append(_merged_gap(own[-1].added, other[-1].added))
    both = [each.both for each in found if each.both is not None]
    return Merged(
        _flat(each.mine for each in found),
        _flat(each.theirs for each in found),
        _flat(both) if len(both) == len(found) else None,
        has_conflicts=any(each.has_conflicts for each in found),
    )


def _flat(tuples: Iterable[tuple[Item, ...]]) -> tuple[Item, ...]:
    return tuple(chain.from_iterable(tuples))


def _slots(base: Sequence[Entry[Item]], made: Sequence[Entry[Item]]) -> list[_Slot[Item]]:
    """Return a slot for each item of the base, and one for its end."""
    old_places = {new: old for old, new in paired([each.keys for each in base], [each.keys for each in made]).items()}
    slots: list[_Slot[Item]] = [_Slot()] * (len(base) + 1)
    added: list[Entry[Item]] = []
    for new, entry in enumerate(made):
        if new in old_places:
            slots[old_places[new]] = _Slot(tuple(added), entry)
            added = []
        else:
            added.append(entry)
    slots[-1] = _Slot(tuple(added))
    return slots


def _merged_gap(mine: Sequence[Entry[Item]], theirs: Sequence[Entry[Item]]) -> Merged[tuple[Item, ...]]:
    own, other = tuple(each.item for each in mine), tuple(each.item for each in theirs)
    if not own or not other or [each.keys.content for each in mine] == [each.keys.content for each in theirs]:
        return settled(own or other)
    return Merged(own, other, (*own, *other), has_conflicts=True)


def _merged_item(
    base: Entry[Item], mine: Entry[Item] | None, theirs: Entry[Item] | None, join: Join[Item]
) -> Merged[tuple[Item, ...]]:
    own, other = () if mine is None else (mine.item,), () if theirs is None else (theirs.item,)
    contents = [None if each is None else each.keys.content for each in (mine, theirs)]
    if base.keys.content in contents or contents[0] == contents[1]:
        return settled(other if contents[0] == base.keys.content else own)
    joined = join(base.item, mine.item, theirs.item) if mine is not None and theirs is not None else None
    return joined or Merged(own, other, None, has_conflicts=True)


# pairing the items of a side with those of the base


def paired(base: Sequence[Keys], side: Sequence[Keys]) -> Mapping[int, int]:
    """Return the index in `side` of each base item, in increasing order: equal items, then those with equal identity, then of one
    kind."""
    found: dict[int, int] = {}
    gaps = [Gap(0, len(base), 0, len(side))]
    for name in ("content", "identity"):
        gaps = [inner for gap in gaps for inner in _pair_in(gap, base, side, name, found)]
    for gap in gaps:
        pairs = zip(range(gap.old_start, gap.old_stop), range(gap.new_start, gap.new_stop), strict=False)
        found |= {old: new for old, new in pairs if base[old].kind == side[new].kind}
    return found


def _pair_in(gap: Gap, base: Sequence[Keys], side: Sequence[Keys], name: str, found: dict[int, int]) -> list[Gap]:
    """Add the pairs inside a gap to `found`. Return the gaps between them."""
    old = [getattr(each, name) for each in base[gap.old_start : gap.old_stop]]
    new = [getattr(each, name) for each in side[gap.new_start : gap.new_stop]]
    left = []
    for step in align(old, new).steps():
        if isinstance(step, Gap):
            starts = (gap.old_start, gap.old_start, gap.new_start, gap.new_start)
            left.append(Gap(*(start + place for start, place in zip(starts, step, strict=True))))
        else:
            found |= {gap.old_start + step.old + i: gap.new_start + step.new + i for i in range(step.length)}
    return left
