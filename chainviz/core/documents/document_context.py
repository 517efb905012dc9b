"""Read and rewrite the text around the messages of a document (head, tail, carried units, slot) and between the documents of a file,
piece by piece. A rewrite gets complete JSON strings, never a part of one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from chainviz.core.chain.surroundings import Rewrite, Unread
from chainviz.core.documents.json.scan import to_bytes
from chainviz.core.documents.units import LIST_STEP, CarriedSpan, Envelope, Read, Span
from chainviz.core.documents.wrapped.unwrap import wrapping_of

MOST_HOLDERS = 4_000_000
"""The most bytes around the messages that `holders` reads."""
_STRING_END = re.compile(rb'(?:[^"\\]++|\\.)*+"', re.DOTALL)
_STRING = re.compile(rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"')


@dataclass(frozen=True, slots=True)
class DocumentContext:
    """The surroundings of a chain in a document."""

    envelope: Envelope
    read: Read
    """Reads the bytes that the envelope points into."""
    is_of_upload: bool = False
    """The envelope points into an upload, so a rewritten envelope keeps its old position as `home`."""
    rest: tuple[Span, ...] = ()
    """Ranges of the file outside all chains, if they are written together with this chain."""

    @property
    def is_single(self) -> bool:
        lists = self.envelope.lists
        return self.envelope.single or (lists is not None and set(lists.order) <= set(lists.singles))

    @property
    def ends_single(self) -> bool:
        lists = self.envelope.lists
        return self.envelope.single or (lists is not None and lists.order[-1] in lists.singles)

    @property
    def unread(self) -> tuple[Unread, ...]:
        return self.envelope.unread

    @property
    def shell(self) -> bytes:
        """The bytes that the envelope of a rewritten context points into."""
        return self.read(self.envelope.region.start, self.envelope.region.end)

    @property
    def size(self) -> int:
        """The number of bytes of all texts, without reading them."""
        region, content = self.envelope.region, self.envelope.content
        carried = sum(each.end - each.start for each in self.envelope.carried)
        rest = sum(each.end - each.start for each in self.rest)
        return carried + rest + region.end - region.start - (content.end - content.start)

    def holders(self) -> Iterator[dict[str, Any]]:
        """Yield the objects around the message list, innermost first, without the messages. Yields nothing for lines, for a bare list
        and for a document with more than MOST_HOLDERS bytes around its messages."""
        envelope = self.envelope
        if envelope.lines or not envelope.inside or self.size > MOST_HOLDERS:
            return
        cut = b"null" if envelope.single else b""
        head = self.read(envelope.region.start, envelope.content.start)
        try:
            holder = json.loads((head + cut + self.read(envelope.content.end, envelope.region.end)).decode("utf-8", "surrogateescape"))
            around = [holder]
            for step in envelope.inside[:-1]:
                holder = holder[step]
                around.append(holder)
        except (ValueError, LookupError, TypeError, RecursionError):
            return
        yield from (each for each in reversed(around) if isinstance(each, dict))

    def texts(self) -> list[str]:
        found: list[str] = []

        def keep(text: str) -> str:
            found.append(text)
            return text

        self.rewritten(keep)
        return found

    def document_texts(self) -> list[str]:
        return replace(self, rest=()).texts()

    def first_records(self, most: int) -> list[str]:
        return [self.read(span.start, span.end).decode("utf-8", "surrogateescape") for span in self.envelope.carried[:most]]

    def rewritten(self, rewrite: Rewrite) -> DocumentContext | None:
        writer = _Writer(self.read, rewrite)
        envelope = writer.write(self.envelope)
        for span in self.rest:
            writer.compare(span)
        if not writer.is_changed:
            return None
        if self.is_of_upload:
            envelope = replace(envelope, home=(self.envelope.region, self.envelope.content))
        return in_memory(envelope, bytes(writer.shell))


def in_memory(envelope: Envelope, shell: bytes) -> DocumentContext:
    """Return the context of a document whose text around the messages is `shell`."""
    return DocumentContext(envelope, lambda start, end: shell[start:end])


def stretches_between(regions: Iterable[Span], size: int, read: Read) -> tuple[Span, ...]:
    """Return the ranges between the documents of a file of `size` bytes, except ranges of white space and commas."""
    found, place = [], 0
    for region in (*sorted(regions, key=lambda region: region.start), Span(size, size)):
        if region.start > place and read(place, region.start).strip(b" \t\r\n,[]"):
            found.append(Span(place, region.start))
        place = max(place, region.end)
    return tuple(found)


class _Writer:
    def __init__(self, read: Read, rewrite: Rewrite) -> None:
        self._read = read
        self._rewrite = rewrite
        self.shell = bytearray()
        self._slot: Span | None = None
        """The new position of the slot."""
        self.is_changed = False

    def write(self, envelope: Envelope) -> Envelope:
        region, content, slot = envelope.region, envelope.content, envelope.slot
        quoted = envelope.lists.quoted if envelope.lists else ()
        self._stretch(region.start, content.start, slot)
        content_start = len(self.shell)
        carried = tuple(self._carried(each, _list_before(each) in quoted, slot) for each in envelope.carried)
        content_end = len(self.shell)
        if quoted and envelope.lists and len(envelope.lists.order) - 1 in quoted:
            self._piece(content.end, region.end, is_inside=True)
        else:
            self._stretch(content.end, region.end, slot)
        return replace(
            envelope,
            region=Span(0, len(self.shell)),
            content=Span(content_start, content_end),
            carried=carried,
            slot=self._slot,
            lists=replace(envelope.lists, spelled=()) if envelope.lists else None,
        )

    def _stretch(self, start: int, end: int, slot: Span | None) -> None:
        """Write a range, and note the new position of the slot if the slot is in it."""
        if slot is None or not start <= slot.start <= slot.end <= end:
            self._piece(start, end)
            return
        self._piece(start, slot.start)
        new_start = len(self.shell)
        self._piece(slot.start, slot.end)
        new_end = len(self.shell)
        self._piece(slot.end, end)
        self._slot = Span(new_start, new_end)

    def _carried(self, unit: CarriedSpan, is_inside: bool, slot: Span | None) -> CarriedSpan:
        self.shell += self._read(unit.start - unit.lead, unit.start)
        start = len(self.shell)
        if is_inside:
            self._piece(unit.start, unit.end, is_inside=True)
        else:
            self._stretch(unit.start, unit.end, slot)
        return replace(unit, start=start, end=len(self.shell))

    def compare(self, span: Span) -> None:
        """Record whether the text of a span would change; the writer of the file writes it. If JSON was extracted from
        a file, that is the text of the whole file."""
        text = self._read(span.start, span.end)
        self._changed(wrapping_of(text) or text)

    def _piece(self, start: int, end: int, *, is_inside: bool = False) -> None:
        """Write a piece of the text. If it begins inside a string, that part of the string is unchanged."""
        old = self._read(start, end)
        cut = _STRING_END.match(old) if is_inside else None
        kept = cut.end() if cut else 0
        self.shell += old[:kept] + self._changed(old[kept:])

    def _changed(self, old: bytes) -> bytes:
        text = old.decode("utf-8", "surrogateescape")
        new = self._rewrite(text)
        self.is_changed = self.is_changed or new != text
        return old if new == text else to_bytes(new)


def _list_before(unit: CarriedSpan) -> int:
    """Return the list that ends where the piece begins; -1 if the piece is a carried unit of a list."""
    return unit.ordinal // LIST_STEP if (unit.ordinal + 1) % LIST_STEP == 0 else -1


def between(chunks: Iterable[bytes], rewrite: Rewrite) -> Iterator[bytes]:
    """Yield rewritten text that begins outside any string. Needs no more memory than its longest string."""
    held, enough = b"", 0
    for chunk in chunks:
        held += chunk
        if len(held) < enough:
            continue
        ready = _cut(held)
        if ready:
            yield to_bytes(rewrite(held[:ready].decode("utf-8", "surrogateescape")))
        # an open string is searched again when twice as much of it was read
        held = held[ready:]
        enough = 2 * len(held)
    yield to_bytes(rewrite(held.decode("utf-8", "surrogateescape")))


def _cut(text: bytes) -> int:
    """Return the length of the text whose strings are complete. A line end closes a string that a broken line left open."""
    place = 0
    while (quote := text.find(b'"', place)) >= 0:
        found = _STRING.match(text, quote)
        if found is not None:
            place = found.end()
            continue
        line_end = text.find(b"\n", quote)
        if line_end < 0:
            return quote
        place = line_end + 1
    # never cut inside a character
    end = len(text)
    while end > place and text[end - 1] >= 0x80:
        end -= 1
    return end
