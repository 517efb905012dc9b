"""Read messages for display. Of a very long text, only the beginning is read, and the rest on demand.

The format reads a copy of the unit in which every long string is cut and ends with a mark. A part whose text is exactly such a
beginning gets a LongText; all other parts must have their stored size. If a part does not match (a long string inside arguments, an
image, a text that the format splits), the whole message must be read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from secrets import token_hex

from chainviz.core.chain.messages import PART_KINDS, Fragment, Message, Part, Text, ToolCall, ToolResult, byte_size
from chainviz.core.documents.json.edit import quote
from chainviz.core.documents.json.long_values import LongString, LongText, long_strings
from chainviz.core.documents.units import Read
from chainviz.core.formats.contract import Format
from chainviz.store.content.message_shapes import PartShape, StoredShape
from chainviz.store.content.spans import SourceSpan, decode

TEXTS: dict[type, str] = {Text: "text", ToolCall: "arguments", ToolResult: "content"}
"""The parts that may be long, each with the name of its long field."""

_WORD = token_hex(16)
"""A random word for the mark, different in each process, so that no transcript contains it."""
_MARK = re.compile(_WORD + r"(\d+);\Z")

_MEASURED: dict[bytes, list[list[LongString]]] = {}
"""A cache of the long strings in the last messages, by message digest. It contains only positions and sizes."""
HELD = 64


def begun(
    format: Format, digest: bytes, shape: StoredShape, spans: Sequence[SourceSpan], reads: Sequence[Read]
) -> Message | None:
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
        if len(_MEASURED) >= HELD:
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
