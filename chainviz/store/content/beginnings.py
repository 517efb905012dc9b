"""Read messages for display: the beginning of a very long text, or some parts of a message that has very many of them.

The format reads a copy of the unit in which every long string is cut and ends with a mark. A part whose text is exactly such a
beginning gets a LongText, whose rest is read on demand; all other parts must have their stored size. A copy for some parts has lists of
blocks and calls that hold nothing but the wanted items. If a part does not match what was stored (a long string inside arguments, an
image, a text that the format splits), the whole message must be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from secrets import token_hex
from typing import NamedTuple

from chainviz.core.chain.messages import PART_KINDS, Fragment, Message, Part, Text, ToolCall, ToolResult, byte_size
from chainviz.core.documents.json import long_values
from chainviz.core.documents.json.edit import quote
from chainviz.core.documents.json.long_values import Items, LongString, LongText, list_items, long_strings
from chainviz.core.documents.units import Pointer, Read
from chainviz.core.formats.contract import Format
from chainviz.store.content.message_shapes import PartShape, StoredShape, shape_of_part
from chainviz.store.content.spans import SourceSpan, decode

TEXTS: dict[type, str] = {Text: "text", ToolCall: "arguments", ToolResult: "content"}
"""The parts that may be long, each with the name of its long field."""

_WORD = token_hex(16)
"""A random word for the mark, different in each process, so that no transcript contains it."""
_MARK = re.compile(_WORD + r"(\d+);\Z")

_MEASURED: dict[bytes, list[list[LongString]]] = {}
"""A cache of the long strings in the last messages, by message digest. It contains only positions and sizes."""
MOST_SHAPES = 64


def begun(format: Format, digest: bytes, shape: StoredShape, spans: Sequence[SourceSpan], reads: Sequence[Read]) -> Message | None:
    """Return the message without its source, or None if it must be read whole. `reads` has a reader for the text of each span."""
    if not format.blocks_at:
        return None
    texts: list[LongText] = []
    try:
        long = _measure(digest, spans, reads)
        source = tuple(
            Fragment(span.ordinal, "", _shortened(read, span.length, strings, texts), span.blocks)
            for span, read, strings in zip(spans, reads, long, strict=True)
        )
    except ValueError:
        return None
    message = format.message(shape.role, source)
    if (message.role, message.label, message.note) != (shape.role, shape.label, shape.note):
        return None
    if len(message.parts) != len(shape.parts):
        return None
    parts = [_with_whole(part, stored, texts) for part, stored in zip(message.parts, shape.parts, strict=True)]
    found = tuple(part for part in parts if part is not None)
    return replace(message, parts=found, source=()) if len(found) == len(parts) else None


def _measure(digest: bytes, spans: Sequence[SourceSpan], reads: Sequence[Read]) -> list[list[LongString]]:
    found = _MEASURED.get(digest)
    if found is None:
        found = [list(long_strings(read, span.length)) for span, read in zip(spans, reads, strict=True)]
        if len(_MEASURED) >= MOST_SHAPES:
            _MEASURED.clear()
        _MEASURED[digest] = found
    return found


def _shortened(read: Read, length: int, strings: Sequence[LongString], texts: list[LongText]) -> str:
    out = []
    at = 0
    for string in strings:
        text = LongText(string, read)
        out += [decode(read(at, string.start)), quote(f"{text}{_WORD}{len(texts)};")[1:-1]]
        texts.append(text)
        at = string.end
    return "".join([*out, decode(read(at, length))])


def _with_whole(part: Part, stored: PartShape, texts: Sequence[LongText]) -> Part | None:
    """Return the part with its long texts as LongText; None if it differs from the stored part, or has a mark inside its text."""
    size = part.size
    name = TEXTS.get(type(part), "")
    mark = _MARK.search(getattr(part, name)) if name else None
    if mark is not None:
        text = texts[int(mark[1])]
        if mark.string[: mark.start()] != text:
            return None
        size += text.whole.size - byte_size(mark.string)
        part = replace(part, **{name: text})  # type: ignore[arg-type]
        object.__setattr__(part, "size", size)
    return part if (PART_KINDS[type(part)], size) == stored[:2] and _WORD not in repr(part) else None


MANY = 500
"""The number of parts from which a message is read this way."""

_FOUND: dict[bytes, list[list[_List]]] = {}
"""By digest of the message, for those read last; contains only numbers."""
MOST_WINDOWS = 8


class _List(NamedTuple):
    """A list in one span of a message whose items are parts of it."""

    pointer: Pointer
    items: Items
    own: Sequence[int]
    """Indexes of the items that belong to the message."""


class PartWindow:
    """Reads some parts of one message. `texts`: the spans of its source, and how to read each."""

    def __init__(self, format: Format, digest: bytes, shape: StoredShape, texts: Sequence[tuple[SourceSpan, Read]]) -> None:
        self._format = format
        self._shape = shape
        self._texts = texts
        found = _FOUND.get(digest)
        if found is None:
            found = [_lists(format, span, read) for span, read in texts]
            if len(_FOUND) >= MOST_WINDOWS:
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
