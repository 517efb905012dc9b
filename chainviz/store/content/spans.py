"""The fragments of a stored message as spans: into its upload, or into its own body."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from chainviz.core.chain.messages import Fragment, Message
from chainviz.core.documents.units import Read
from chainviz.store.content.codec import pack, unpack

AT_ONCE = 1 << 20
"""Characters of a text that are encoded together for a digest."""


def encode(text: str) -> bytes:
    """Return source text as bytes. Surrogate escapes become the original bytes that are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def decode(content: bytes | memoryview) -> str:
    return str(content, "utf-8", "surrogateescape")


class SourceSpan(NamedTuple):
    """The position of one fragment: `start` in the upload (-1 if it is next in the body), and the lengths of its text and lead."""

    ordinal: int
    lead: int
    start: int
    length: int
    blocks: tuple[int, ...] | None


class PackedSource(NamedTuple):
    spans: bytes
    body: bytes
    """The content that is not in an upload; empty if there is none."""
    length: int
    """The size in bytes of the message in its source."""


def pack_source(source: tuple[Fragment, ...]) -> PackedSource:
    if len(source) == 1 and source[0].start >= 0 and source[0].blocks is None:
        # nearly every message of an import
        one = source[0]
        lead, text = _length(one.lead), _length(one.text)
        return PackedSource(b"[[%d,%d,%d,%d]]" % (one.ordinal, lead, one.start, text), b"", lead + text)
    spans: list[list[object]] = []
    body: list[bytes] = []
    length = 0
    for fragment in source:
        lead, text = _length(fragment.lead), _length(fragment.text)
        if fragment.start < 0:
            body += (encode(fragment.lead), encode(fragment.text))
        span: list[object] = [fragment.ordinal, lead, fragment.start, text]
        if fragment.blocks is not None:
            span.append(list(fragment.blocks))
        spans.append(span)
        length += lead + text
    return PackedSource(pack(spans), b"".join(body), length)


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(encode(text))


def unpack_spans(source: bytes) -> list[SourceSpan]:
    if source[:2] == b"[[" and source.count(b"[") == 2 and source.count(b",") == 3:  # nearly every message of an import
        ordinal, lead, start, length = source[2:-2].split(b",")
        return [SourceSpan(int(ordinal), int(lead), int(start), int(length), None)]
    return [SourceSpan(span[0], span[1], span[2], span[3], tuple(span[4]) if len(span) > 4 else None) for span in unpack(source)]


def first_ordinal(source: bytes) -> int | None:
    """Return the unit in which the message begins, or None without a span. Quicker than `unpack_spans`, for a whole chain."""
    if source[:2] == b"[[":
        return int(source[2 : source.index(b",")])
    return next((span.ordinal for span in unpack_spans(source)), None)


def stored_bytes(source: bytes) -> int:
    """Return the length of the message in bytes of its source."""
    return sum(span.lead + span.length for span in unpack_spans(source))


def fragments(spans: Sequence[SourceSpan], body: bytes, read: Read) -> tuple[Fragment, ...]:
    found = []
    place = 0
    for span in spans:
        length = span.lead + span.length
        if span.start < 0:
            content = body[place : place + length]
            place += length
        else:
            content = read(span.start - span.lead, span.start + span.length)
        view = memoryview(content)  # a slice of bytes is a copy
        found.append(Fragment(span.ordinal, decode(view[: span.lead]), decode(view[span.lead :]), span.blocks, span.start))
    return tuple(found)


def texts_of(spans: Sequence[SourceSpan], body: bytes, read: Read) -> list[Read]:
    """Return for each fragment a reader of its text."""
    found = []
    place = 0
    for span in spans:
        if span.start < 0:
            found.append(_within(lambda start, end: body[start:end], place + span.lead))
            place += span.lead + span.length
        else:
            found.append(_within(read, span.start))
    return found


def _within(read: Read, first: int) -> Read:
    return lambda start, end: read(first + start, first + end)


def message_digest(message: Message) -> bytes:
    """Return a digest of the message's role and fragments."""
    source = message.source
    if len(source) == 1 and source[0].ordinal >= -1 and len(source[0].text) <= AT_ONCE and message.role.isascii():
        # nearly every message of an import
        return sha256(f"{message.role}\0{source[0].blocks}{source[0].text}".encode("utf-8", "surrogateescape")).digest()
    digest = sha256(encode_any(message.role))
    for fragment in source:
        ordinal = b"\0%d" % fragment.ordinal if fragment.ordinal < -1 else b"\0"
        digest.update(ordinal + repr(fragment.blocks).encode())
        for start in range(0, len(fragment.text), AT_ONCE):  # a copy of a very long text would double the memory of an import
            digest.update(encode(fragment.text[start : start + AT_ONCE]))
    return digest.digest()


def encode_any(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
