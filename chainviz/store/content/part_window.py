"""Some parts of a message that has very many of them: their blocks alone are read from the source and decoded.

The unit is read by its format as usual, from a copy whose lists of blocks and calls hold nothing but the wanted items.
Where what comes out is not what was stored for these parts, the whole message is to be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from chainviz.core.chain.messages import Fragment, Message, Part
from chainviz.core.documents.json import long_strings
from chainviz.core.documents.json.list_items import Items, list_items
from chainviz.core.documents.units import Pointer, Read
from chainviz.core.formats.contract import Format
from chainviz.store.content.message_shapes import StoredShape, shape_of_part
from chainviz.store.content.spans import SourceSpan, decode

MANY = 500
"""Parts from which a message is read in this way."""

_FOUND: dict[bytes, list[list[_List]]] = {}
"""By digest of the message, for those read last: numbers only."""
HELD = 8


class _List(NamedTuple):
    """A list in one span of a message whose items are parts of it."""

    pointer: Pointer
    items: Items
    own: Sequence[int]
    """Indexes of the items that are the message's."""


def window(
    format: Format, digest: bytes, shape: StoredShape, texts: Sequence[tuple[SourceSpan, Read]], wanted: range
) -> tuple[Part, ...] | None:
    """The parts `wanted`; None where the message has to be read whole. `texts`: the spans of its source, and how to read each."""
    found = _FOUND.get(digest)
    if found is None:
        found = [_lists(format, span, read) for span, read in texts]
        if len(_FOUND) >= HELD:
            _FOUND.clear()
        _FOUND[digest] = found
    first = len(shape.parts) - sum(len(each.own) for lists in found for each in lists)
    if not 0 <= first < MANY:
        return None
    places = list(range(first))
    source = []
    at = first
    for (span, read), lists in zip(texts, found, strict=True):
        kept = []
        for each in lists:
            inside = range(max(wanted.start, at), min(wanted.stop, at + len(each.own))) or range(at, at + 1)
            kept.append([each.own[place - at] for place in inside])
            places += inside
            at += len(each.own)
        if any(each.items.ends[i] - each.items.starts[i] > long_strings.STEP for each, own in zip(lists, kept, strict=True) for i in own):
            return None
        blocks = None if span.blocks is None else tuple(range(len(kept[0]))) if lists else span.blocks
        source.append(Fragment(span.ordinal, "", _cut(read, span.length, lists, kept), blocks))
    message = format.message(shape.role, tuple(source))
    if not _is_of(message, shape, places):
        return None
    return tuple(part for part, place in zip(message.parts, places, strict=True) if place in wanted)


def _lists(format: Format, span: SourceSpan, read: Read) -> list[_List]:
    content = read(0, span.length)
    found = []
    for pointer in (format.blocks_at, format.calls_at):
        items = list_items(content, pointer) if pointer else None
        if items is not None and len(items):
            own = span.blocks if span.blocks is not None and pointer == format.blocks_at else range(len(items))
            found.append(_List(pointer, items, own))
    return found


def _cut(read: Read, length: int, lists: Sequence[_List], kept: Sequence[Sequence[int]]) -> str:
    """The text of a span whose lists hold but the kept items."""
    out = []
    at = 0
    for each, own in sorted(zip(lists, kept, strict=True), key=lambda pair: pair[0].items.starts[0]):
        starts, ends = each.items
        out += [read(at, starts[0]), b",".join(read(starts[i], ends[i]) for i in own)]
        at = ends[-1]
    return decode(b"".join([*out, read(at, length)]))


def _is_of(message: Message, shape: StoredShape, places: Sequence[int]) -> bool:
    if (message.role, message.label, message.note) != (shape.role, shape.label, shape.note):
        return False
    return [shape_of_part(part) for part in message.parts] == [shape.parts[place] for place in places]
