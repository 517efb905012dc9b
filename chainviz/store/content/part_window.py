"""Some parts of a message that has very many of them: their blocks alone are read from the source and decoded.

The unit is read by its format as usual, from a copy whose lists of blocks and calls hold nothing but the wanted items.
Where what comes out is not what was stored for these parts, the whole message is to be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from chainviz.core.chain.messages import Fragment, Message, Part
from chainviz.core.documents.json import long_values
from chainviz.core.documents.json.long_values import Items, list_items
from chainviz.core.documents.units import Pointer, Read
from chainviz.core.formats.contract import Format
from chainviz.store.content.message_shapes import StoredShape, shape_of_part
from chainviz.store.content.spans import SourceSpan, decode

MANY = 500
"""The number of parts from which a message is read this way."""

_FOUND: dict[bytes, list[list[_List]]] = {}
"""By digest of the message, for those read last; contains only numbers."""
HELD = 8


class _List(NamedTuple):
    """A list in one span of a message whose items are parts of it."""

    pointer: Pointer
    items: Items
    own: Sequence[int]
    """Indexes of the items that belong to the message."""


class PartWindow:
    """Reads some parts of one message. `texts`: the spans of its source, and how to read each."""

    def __init__(
        self, format: Format, digest: bytes, shape: StoredShape, texts: Sequence[tuple[SourceSpan, Read]]
    ) -> None:
        self._format = format
        self._shape = shape
        self._texts = texts
        found = _FOUND.get(digest)
        if found is None:
            found = [_lists(format, span, read) for span, read in texts]
            if len(_FOUND) >= HELD:
                _FOUND.clear()
            _FOUND[digest] = found
        self._found = found
        self._first = len(shape.parts) - sum(len(each.own) for lists in found for each in lists)
        """The index of the part that is the first item; earlier ones are beside the lists."""

    @property
    def fits(self) -> bool:
        """Return True if nearly all parts are items of lists; otherwise the message has to be read completely."""
        return 0 <= self._first < MANY

    def parts(self, wanted: range) -> tuple[Part, ...] | None:
        """Return the parts `wanted`, or None if the message has to be read completely."""
        if not self.fits:
            return None
        places = list(range(self._first))
        source = []
        at = self._first
        for (span, read), lists in zip(self._texts, self._found, strict=True):
            kept = []
            for each in lists:
                inside = range(max(wanted.start, at), min(wanted.stop, at + len(each.own))) or range(at, at + 1)
                kept.append([each.own[place - at] for place in inside])
                places += inside
                at += len(each.own)
            items = [(each.items.starts[i], each.items.ends[i]) for each, own in zip(lists, kept, strict=True) for i in own]
            if any(end - start > long_values.STEP for start, end in items):
                return None
            blocks = None if span.blocks is None else tuple(range(len(kept[0]))) if lists else span.blocks
            source.append(Fragment(span.ordinal, "", decode(_cut(read, span.length, lists, kept)), blocks))
        message = self._format.message(self._shape.role, tuple(source))
        if not _is_of(message, self._shape, places):
            return None
        return tuple(part for part, place in zip(message.parts, places, strict=True) if place in wanted)

    def beside(self) -> Iterator[bytes]:
        """Yield the source without the items."""
        for (span, read), lists in zip(self._texts, self._found, strict=True):
            yield _cut(read, span.length, lists, [()] * len(lists))

    def items(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Yield the numbers of the parts from `start` on that are items, each with its text in the source."""
        at = self._first
        for (span, read), lists in zip(self._texts, self._found, strict=True):
            text = read(0, span.length)
            for each in lists:
                starts, ends = each.items
                for number in range(max(start, at), at + len(each.own)):
                    item = each.own[number - at]
                    yield number, text[starts[item] : ends[item]]
                at += len(each.own)


def _lists(format: Format, span: SourceSpan, read: Read) -> list[_List]:
    content = read(0, span.length)
    found = []
    for pointer in (format.blocks_at, format.calls_at):
        items = list_items(content, pointer) if pointer else None
        if items is not None and len(items):
            own = span.blocks if span.blocks is not None and pointer == format.blocks_at else range(len(items))
            if min(own, default=0) >= 0:  # the other way round: a block that is split between messages
                found.append(_List(pointer, items, own))
    return found


def _cut(read: Read, length: int, lists: Sequence[_List], kept: Sequence[Sequence[int]]) -> bytes:
    """Return the text of a span with only some items in its lists."""
    out = []
    at = 0
    for each, own in sorted(zip(lists, kept, strict=True), key=lambda pair: pair[0].items.starts[0]):
        starts, ends = each.items
        out += [read(at, starts[0]), b",".join(read(starts[i], ends[i]) for i in own)]
        at = ends[-1]
    return b"".join([*out, read(at, length)])


def _is_of(message: Message, shape: StoredShape, places: Sequence[int]) -> bool:
    if (message.role, message.label, message.note) != (shape.role, shape.label, shape.note):
        return False
    return [shape_of_part(part) for part in message.parts] == [shape.parts[place] for place in places]
