"""Three-way merge of one message: in its source if both sides kept its parts in place, otherwise part by part. Changes of different
parts are all kept. If both sides changed the same part, one version is chosen, or both if the format can store both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chainviz.core.chain.messages import PART_KINDS, Binary, Fragment, Image, Message, Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.values import is_json
from chainviz.core.diff.merge.items import Choice, Entry, Keys, Merged, merge_items, merge_json, merge_texts, merge_words, paired, settled
from chainviz.core.formats.contract import Format, Style


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
