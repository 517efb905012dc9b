"""Three-way merge of parts of a message, of messages of a row, and of texts.

Changes of different items are all kept; only changes of the same item, or in the same gap, conflict. Plain text is merged word by
word, JSON value by value, including added and removed members. Spelling is kept. If both sides changed one value, the whole text is in
conflict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

from chainviz.core.diff.align import Gap, align
from chainviz.core.documents.json.edit import Array, Object, load

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


def _merged_item(base: Entry[Item], mine: Entry[Item] | None, theirs: Entry[Item] | None, join: Join[Item]) -> Merged[tuple[Item, ...]]:
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


_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"(?:\s*+:)?|\s++|[\w.+-]++|.', re.DOTALL)


def merge_texts(base: str, mine: str, theirs: str) -> Merged[str]:
    """Merge texts. `both`: the changes of both sides, word by word where they conflict; None if they touch the same words."""
    if mine == theirs or base in (mine, theirs):
        return settled(theirs if mine == base else mine)
    sides = [_TOKEN.findall(text) for text in (base, mine, theirs)]
    if len({tuple(each if each[-1] in "{}[]:," else "" for each in side) for side in sides}) > 1:
        return Merged(mine, theirs, None, has_conflicts=True)
    rows = [_merged(*row) for row in zip(*sides, strict=True)]
    own, other = "".join(each.mine for each in rows), "".join(each.theirs for each in rows)
    both = [each.both for each in rows if each.both is not None]
    return Merged(own, other, "".join(both) if len(both) == len(rows) else None, has_conflicts=own != other)


def _merged(old: str, mine: str, theirs: str) -> Merged[str]:
    if mine == theirs or old in (mine, theirs):
        return settled(theirs if mine == old else mine)
    are_strings = all(each.startswith('"') for each in (old, mine, theirs))
    return Merged(mine, theirs, merge_words(old, mine, theirs) if are_strings else None, has_conflicts=True)


_WORD = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|\w+|\s+|[^\w\s]", re.DOTALL)
"""Words of a text. An escape of a JSON string is one word, so that a merge never splits it."""
MOST_CHARACTERS = 1_000_000


class _Edit(NamedTuple):
    start: int
    stop: int
    words: tuple[str, ...]
    """The words that replace words `start : stop` of the base."""


def merge_words(base: str, mine: str, theirs: str) -> str | None:
    """Return the text with the changes of both sides; None if they touch the same words, or the texts are very long."""
    if max(map(len, (base, mine, theirs))) > MOST_CHARACTERS:
        return None
    words = _WORD.findall(base)
    edits = sorted({*_edits(words, mine), *_edits(words, theirs)})
    result: list[str] = []
    place = 0
    for i, edit in enumerate(edits):
        is_beside = i > 0 and edit.start == place and edit.start in (edit.stop, edits[i - 1].start)
        if edit.start < place or is_beside:
            return None
        result += (*words[place : edit.start], *edit.words)
        place = edit.stop
    return "".join((*result, *words[place:]))


def _edits(words: list[str], side: str) -> Iterator[_Edit]:
    others = _WORD.findall(side)
    for step in align(words, others).steps():
        if isinstance(step, Gap):
            yield _Edit(step.old_start, step.old_stop, tuple(others[step.new_start : step.new_stop]))


def merge_json(base: str, mine: str, theirs: str) -> str | None:
    """Return JSON text with the changes of both sides; None if both changed the same value, or one removed it and the other changed it.
    All texts must be valid JSON."""
    try:
        return _merge_value(base.strip(), mine.strip(), theirs.strip())
    except RecursionError:
        return None


def _merge_value(base: str, mine: str, theirs: str) -> str | None:
    if mine == theirs or base in (mine, theirs):
        return theirs if mine == base else mine
    if not base[:1] == mine[:1] == theirs[:1]:
        return None
    if base[:1] not in ("{", "["):
        return merge_texts(base, mine, theirs).both
    sides = [load(each) for each in (base, mine, theirs)]
    return _merged_members(*sides) if base[:1] == "{" else _merged_items(*sides)  # type: ignore[arg-type]


def _merged_items(base: Array, mine: Array, theirs: Array) -> str | None:
    """Merge lists item by item. An item that both sides changed is a conflict, even for different members, because a side may have moved
    items."""
    if not len(base) == len(mine) == len(theirs):
        return None
    for place in range(len(base)):
        old, own, other = (each.raw(place) for each in (base, mine, theirs))
        if other not in (old, own):
            if own != old:
                return None
            mine.set(place, other)
    return str(mine)


def _merged_members(base: Object, mine: Object, theirs: Object) -> str | None:
    """Write the changes of theirs into mine."""
    if any(len(set(each.keys)) < len(each.keys) for each in (base, mine, theirs)):
        return None
    before = ""
    for key in dict.fromkeys((*theirs.keys, *base.keys)):
        old, own, other = (each.raw(key) if key in each else None for each in (base, mine, theirs))
        if other not in (old, own):
            if own == old:
                text = other
            elif old is None or own is None or other is None or (text := _merge_value(old, own, other)) is None:
                return None
            if text is None:
                mine.remove(key)
            else:
                mine.set(key, text, after=before)
        before = key if key in mine else before
    return str(mine)
