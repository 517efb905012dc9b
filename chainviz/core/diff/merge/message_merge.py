"""Three-way merge of one message: in its source where both sides kept its parts in place, else part by part, so that a part
that one side added or removed and the text that the other changed are both kept."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Part, ToolCall, ToolResult
from chainviz.core.dialects.patching import is_json
from chainviz.core.diff.align import Gap, align
from chainviz.core.diff.merge.text_merge import merge_texts
from chainviz.core.diff.merge.three_way import Change, merge
from chainviz.core.diff.merge.word_merge import merge_words
from chainviz.core.formats.contract import Format, Style

_WORDED = ("text", "content", "arguments")
"""Fields of parts whose words merge; of any other field only one side may change the value."""


def merge_messages(base: Message, mine: Message, theirs: Message, format: Format) -> Message | None:
    """Returns the message with the changes of both sides and its source; None where they touch the same words or members."""
    if len({each.role for each in (base, mine, theirs)}) > 1:
        return None
    found = None
    if all(_stays_in_place(base.parts, each.parts) for each in (mine, theirs)):
        found = _in_source(base, mine, theirs, format)
    if found is None and format.writes:
        found = _by_parts(base, mine, theirs, mine, format) or _by_parts(base, mine, theirs, theirs, format)
    return found


# in the source


def _in_source(base: Message, mine: Message, theirs: Message, format: Format) -> Message | None:
    if len({len(each.source) for each in (base, mine, theirs)}) > 1:
        return None
    units = zip(base.source, mine.source, theirs.source, strict=True)
    source = [_joined_unit(*unit, is_json=bool(format.blocks_at)) for unit in units]
    found = tuple(each for each in source if each is not None)
    return format.message(mine.role, found) if found and len(found) == len(source) else None


def _stays_in_place(base: Sequence[Part], side: Sequence[Part]) -> bool:
    """Whether every part is where it was: a list with one item less and one more looks like one whose items changed."""
    return len(base) == len(side) and all(old == new for old, new in _kept(base, side).items())


def _joined_unit(base: Fragment, mine: Fragment, theirs: Fragment, *, is_json: bool) -> Fragment | None:
    if mine.blocks != theirs.blocks:
        return None
    texts = base.text, mine.text, theirs.text
    text = merge_texts(*texts).both if is_json else merge_words(*texts)
    return None if text is None else replace(mine, text=text, start=-1)


# part by part


def _by_parts(base: Message, mine: Message, theirs: Message, host: Message, format: Format) -> Message | None:
    """Writes the changes of both sides into the source of `host`, one of them. None also where the other one changed more than its
    parts, such as a field that no part shows."""
    guest = theirs if host is mine else mine
    if not (base.source and host.source and _changes_parts_only(base, guest, format)):
        return None
    seen = {old: host.parts[new].origin for old, new in _kept(base.parts, host.parts).items()}
    old = [replace(part, origin=seen.get(i, -1)) for i, part in enumerate(base.parts)]
    own, other = (each.parts if each is host else _placed(base, each, seen) for each in (mine, theirs))
    merged = _merged(old, own, other)
    if merged is None or _repeats_ids(merged):
        return None
    made = format.message(host.role, _written(host, merged, format))
    return made if made.parts == tuple(merged) else None


def _changes_parts_only(base: Message, side: Message, format: Format) -> bool:
    """Whether writing the parts of `side` into the base makes the source of `side`."""
    origins = {i: part.origin for i, part in enumerate(base.parts)}
    written = _written(base, _placed(base, side, origins), format)
    return [(each.text, each.blocks) for each in written] == [(each.text, each.blocks) for each in side.source]


def _written(message: Message, parts: Sequence[Part], format: Format) -> tuple[Fragment, ...]:
    near = message.source[0].text
    return format.write(replace(message, parts=tuple(parts)), Style(near, near.isascii()))


def _placed(base: Message, side: Message, origins: dict[int, int]) -> tuple[Part, ...]:
    """The parts of a side, each with the origin that `origins` has for the part of the base it was, by its place."""
    was = {new: old for old, new in _kept(base.parts, side.parts).items()}
    return tuple(replace(part, origin=origins.get(was.get(i, -1), -1)) for i, part in enumerate(side.parts))


def _kept(base: Sequence[Part], side: Sequence[Part]) -> dict[int, int]:
    """Places in `side` of the base's parts, rising: of equal ones, and of one of the same kind where they differ."""
    found: dict[int, int] = {}
    for step in align(base, side).steps():
        if isinstance(step, Gap):
            pairs = zip(range(step.old_start, step.old_stop), range(step.new_start, step.new_stop), strict=False)
            found |= {old: new for old, new in pairs if type(base[old]) is type(side[new])}
        else:
            found |= {step.old + i: step.new + i for i in range(step.length)}
    return found


def _repeats_ids(parts: Sequence[Part]) -> bool:
    calls = [part.id for part in parts if isinstance(part, ToolCall)]
    results = [part.call_id for part in parts if isinstance(part, ToolResult)]
    return len(set(calls)) < len(calls) or len(set(results)) < len(results)


def _merged(base: Sequence[Part], mine: Sequence[Part], theirs: Sequence[Part]) -> list[Part] | None:
    found = merge(_PartList(tuple(base)), _changes(base, mine), _changes(base, theirs))
    if not all(each.offers("both") for each in found.conflicts):
        return None
    made: list[Part] = []
    place = 0
    for change in found.changes(["both"] * len(found.conflicts)):
        made += (*base[place : change.start], *change.items)
        place = change.start + change.removed
    return [*made, *base[place:]]


def _changes(base: Sequence[Part], side: Sequence[Part]) -> Iterator[Change[Part]]:
    kept = _kept(base, side)
    place = 0
    for old, part in enumerate(base):
        new = kept.get(old, place)
        if new > place:
            yield Change(old, 0, tuple(side[place:new]))
        if old not in kept or side[new] != part:
            yield Change(old, 1, (side[new],) if old in kept else ())
        place = new + (old in kept)
    if place < len(side):
        yield Change(len(base), 0, tuple(side[place:]))


@dataclass(frozen=True, slots=True)
class _PartList:
    """The parts of the base as the merge asks for them: each is a row of its own."""

    parts: tuple[Part, ...]

    def __len__(self) -> int:
        return len(self.parts)

    def slice(self, start: int, stop: int) -> Sequence[Part]:
        return self.parts[start:stop]

    def span(self, place: int) -> tuple[int, int]:
        return place, place + 1

    def continue_rows(self, items: Sequence[Part]) -> Sequence[bool]:
        return [False] * len(items)

    def keys(self, items: Sequence[Part]) -> Sequence[Hashable]:
        return items

    def joined(self, base: Part, mine: Part, theirs: Part) -> Part | None:
        return _joined_part(base, mine, theirs)

    def may_repeat(self, mine: Sequence[Part], theirs: Sequence[Part]) -> bool:
        return False


def _joined_part(base: Part, mine: Part, theirs: Part) -> Part | None:
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
    """JSON stays JSON: its values merge, else words."""
    if not all(isinstance(each, str) for each in sides):
        return None
    are_json = all(each.lstrip()[:1] in ("{", "[") and is_json(each) for each in sides)
    return merge_texts(*sides).both if are_json else merge_words(*sides)
