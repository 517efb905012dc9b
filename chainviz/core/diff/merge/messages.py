"""Three-way merge of one message: in its source if both sides kept its parts in place, otherwise part by part. Changes of different
parts are all kept. If both sides changed the same part, one version is chosen, or both if the format can store both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from chainviz.core.chain.messages import PART_KINDS, Binary, Fragment, Image, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.values import is_json
from chainviz.core.diff.align import Equal, Gap, align
from chainviz.core.diff.merge.items import Choice, Entry, Keys, Merged, merge_items, merge_json, merge_texts, merge_words, paired, settled
from chainviz.core.formats.contract import Format, Style

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


def merge_messages(base: Message, mine: Message, theirs: Message, format: Format, *, may_repeat: bool = False) -> Merged[Message] | None:
    """Merge a message that both sides changed. Returns None if only one side's whole message can be kept.

    With `may_repeat`, a text or image that both sides changed may be kept twice, mine before theirs.
    """
    if len({each.role for each in (base, mine, theirs)}) > 1:
        return None
    sides = _Sides(base, mine, theirs, format, may_repeat)
    parts = sides.merged_parts(*(each.parts for each in sides.all))
    source = _in_source(sides)
    if parts.has_conflicts:
        both = source.both if source is not None else None
        both = both or _by_parts(sides, "both")
        own = mine if parts.mine == mine.parts else _by_parts(sides, "mine")
        other = theirs if parts.theirs == theirs.parts else _by_parts(sides, "theirs")
        return Merged(own or mine, other or theirs, both, has_conflicts=True)
    if source is not None and not source.has_conflicts and source.mine.parts == parts.mine:
        return settled(source.mine)
    found = _by_parts(sides, "both")
    if found is not None or source is None:
        return settled(found) if found is not None else None
    return _of_one_value(source, parts.mine)


def _of_one_value(source: Merged[Message], parts: tuple[Part, ...]) -> Merged[Message] | None:
    """Merge a source in which both sides changed one value but not one part: a field that no part shows, or a string that contains
    several parts. Return None if neither the source nor its join has these parts."""
    if source.mine.parts == source.theirs.parts == parts:
        return source
    return settled(source.both) if source.both is not None and source.both.parts == parts else None


@dataclass(frozen=True, slots=True)
class _Sides:
    base: Message
    mine: Message
    theirs: Message
    format: Format
    may_repeat: bool

    @property
    def all(self) -> tuple[Message, Message, Message]:
        return self.base, self.mine, self.theirs

    def merged_parts(self, base: Iterable[Part], mine: Iterable[Part], theirs: Iterable[Part]) -> Merged[tuple[Part, ...]]:
        join = join_or_repeat_parts if self.may_repeat else join_parts
        return merge_items(part_entries(base), part_entries(mine), part_entries(theirs), join)


# in the source


def _in_source(sides: _Sides) -> Merged[Message] | None:
    """Merge the sources unit by unit, so that bytes that no side changed stay. Return None if the sources do not match
    unit by unit, or not part by part."""
    if len({len(each.source) for each in sides.all}) > 1 or not sides.base.source:
        return None
    if not all(_stays_in_place(sides.base.parts, each.parts) for each in (sides.mine, sides.theirs)):
        return None
    units = list(zip(*(each.source for each in sides.all), strict=True))
    if any(mine.blocks != theirs.blocks for _, mine, theirs in units):
        return None
    merge = merge_texts if sides.format.blocks_at else _merge_plain
    found = [merge(*(each.text for each in unit)) for unit in units]
    both = [each.both for each in found if each.both is not None]
    return Merged(
        mine=_with_texts(sides, [each.mine for each in found]),
        theirs=_with_texts(sides, [each.theirs for each in found]),
        both=_with_texts(sides, both) if len(both) == len(found) else None,
        has_conflicts=any(each.has_conflicts for each in found),
    )


def _stays_in_place(base: Sequence[Part], side: Sequence[Part]) -> bool:
    """Return True if every part is in its old place. Otherwise a removed and an added item could be mistaken for a changed one."""
    return len(base) == len(side) and all(old == new for old, new in match_parts(base, side).items())


def _merge_plain(base: str, mine: str, theirs: str) -> Merged[str]:
    joined = merge_words(base, mine, theirs)
    return settled(joined) if joined is not None else Merged(mine, theirs, None, has_conflicts=True)


def _with_texts(sides: _Sides, texts: Sequence[str]) -> Message:
    source = [each.with_text(text) for each, text in zip(sides.mine.source, texts, strict=True)]
    return sides.format.message(sides.mine.role, tuple(source))


# part by part


def _by_parts(sides: _Sides, choice: Choice) -> Message | None:
    """Write the changed parts of one side into the source of the other. Return None if neither source can take them: a side changed
    more than its parts, such as a field that no part shows, or the format has no place for them."""
    if not sides.format.writes:
        return None
    return _into(sides, choice, sides.mine) or _into(sides, choice, sides.theirs)


def _into(sides: _Sides, choice: Choice, host: Message) -> Message | None:
    base, format = sides.base, sides.format
    guest = sides.theirs if host is sides.mine else sides.mine
    if not (base.source and host.source and _changes_parts_only(base, guest, format)):
        return None
    seen = {old: host.parts[new].origin for old, new in match_parts(base.parts, host.parts).items()}
    old = [replace(part, origin=seen.get(i, -1)) for i, part in enumerate(base.parts)]
    own, other = (each.parts if each is host else _with_origins(base, each, seen) for each in (sides.mine, sides.theirs))
    merged = sides.merged_parts(old, own, other)
    if choice not in merged.choices or _repeats_ids(merged.chosen(choice)):
        return None
    made = format.message(host.role, _written(host, merged.chosen(choice), format))
    return made if made.parts == merged.chosen(choice) else None


def _changes_parts_only(base: Message, side: Message, format: Format) -> bool:
    """Return True if writing the parts of `side` into the base gives the source of `side`."""
    origins = {i: part.origin for i, part in enumerate(base.parts)}
    written = _written(base, _with_origins(base, side, origins), format)
    return [(each.text, each.blocks) for each in written] == [(each.text, each.blocks) for each in side.source]


def _written(message: Message, parts: Sequence[Part], format: Format) -> tuple[Fragment, ...]:
    near = message.source[0].text
    return format.write(replace(message, parts=tuple(parts)), Style(near, near.isascii()))


def _with_origins(base: Message, side: Message, origins: dict[int, int]) -> tuple[Part, ...]:
    """Return the parts of a side, each with the origin from `origins` of its base part."""
    was = {new: old for old, new in match_parts(base.parts, side.parts).items()}
    return tuple(replace(part, origin=origins.get(was.get(i, -1), -1)) for i, part in enumerate(side.parts))


def _repeats_ids(parts: Sequence[Part]) -> bool:
    calls = [part.id for part in parts if isinstance(part, ToolCall)]
    results = [part.call_id for part in parts if isinstance(part, ToolResult)]
    return len(set(calls)) < len(calls) or len(set(results)) < len(results)


_WORDED = ("text", "content", "arguments")
"""Fields that are merged word by word. Only one side may change any other field."""
_REPEATABLE = (Text, Image, Binary)


def part_entries(parts: Iterable[Part]) -> list[Entry[Part]]:
    return [Entry(part, Keys(part, _identity(part), PART_KINDS[type(part)])) for part in parts]


def match_parts(base: Sequence[Part], side: Sequence[Part]) -> Mapping[int, int]:
    """Return the index in `side` of each base part, in increasing order."""
    return paired([each.keys for each in part_entries(base)], [each.keys for each in part_entries(side)])


def _identity(part: Part) -> Hashable:
    if isinstance(part, ToolCall):
        return ToolCall, part.id
    return (ToolResult, part.call_id) if isinstance(part, ToolResult) else part


def join_parts(base: Part, mine: Part, theirs: Part) -> Merged[tuple[Part, ...]]:
    joined = _joined(base, mine, theirs)
    return Merged((mine,), (theirs,), None if joined is None else (joined,), has_conflicts=True)


def join_or_repeat_parts(base: Part, mine: Part, theirs: Part) -> Merged[tuple[Part, ...]]:
    """Join two changes of a part like `join_parts`; if a text or image cannot be joined, keep both versions, one after
    the other."""
    found = join_parts(base, mine, theirs)
    if found.both is None and isinstance(mine, _REPEATABLE) and isinstance(theirs, _REPEATABLE):
        return replace(found, both=(mine, replace(theirs, origin=-1)))
    return found


def _joined(base: Part, mine: Part, theirs: Part) -> Part | None:
    """Join two changes of a part field by field. Return None if both changed the same words, or a value that is not text."""
    if not type(base) is type(mine) is type(theirs):
        return None
    values: dict[str, Any] = {}
    for name in (each.name for each in fields(base) if each.init and each.compare):
        old, own, other = (getattr(each, name) for each in (base, mine, theirs))
        if own == other or old in (own, other):
            values[name] = other if own == old else own
        elif name not in _WORDED or (joined := _joined_text(old, own, other)) is None:
            return None
        else:
            values[name] = joined
    return replace(mine, **values, origin=mine.origin)


def _joined_text(*sides: str) -> str | None:
    """Merge texts: JSON by members, so that it stays valid, and any other text by words."""
    if not all(isinstance(each, str) for each in sides):
        return None
    are_json = all(each.lstrip()[:1] in ("{", "[") and is_json(each) for each in sides)
    return merge_json(*sides) if are_json else merge_words(*sides)
