"""What surrounds the messages of a document (head, tail, carried units, a slot), written anew piece by piece; and what
lies between the documents of a file. A rewrite is given whole JSON strings, never a piece of one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from chainviz.core.documents.json_scan import to_bytes
from chainviz.core.documents.units import CarriedSpan, Envelope, Read, Span

Rewrite = Callable[[str], str]
_STRING = re.compile(rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"')


@dataclass(frozen=True, slots=True)
class Surroundings:
    envelope: Envelope
    shell: bytes
    """What the envelope points into."""

    def read(self, start: int, end: int) -> bytes:
        return self.shell[start:end]


def rewritten(envelope: Envelope, read: Read, rewrite: Rewrite) -> Surroundings | None:
    """None where `rewrite` changes nothing. Each piece is given alone: what spans two of them is two texts."""
    writer = _Writer(read, rewrite)
    new = writer.write(envelope)
    return Surroundings(new, bytes(writer.shell)) if writer.is_changed else None


class _Writer:
    def __init__(self, read: Read, rewrite: Rewrite) -> None:
        self._read = read
        self._rewrite = rewrite
        self.shell = bytearray()
        self.is_changed = False

    def write(self, envelope: Envelope) -> Envelope:
        region, content, slot = envelope.region, envelope.content, envelope.slot
        new_slot = self._stretch(region.start, content.start, slot)
        content_start = len(self.shell)
        carried = tuple(self._carried(each) for each in envelope.carried)
        content_end = len(self.shell)
        new_slot = self._stretch(content.end, region.end, slot) or new_slot
        return replace(
            envelope,
            region=Span(0, len(self.shell)),
            content=Span(content_start, content_end),
            carried=carried,
            slot=new_slot,
        )

    def _stretch(self, start: int, end: int, slot: Span | None) -> Span | None:
        """Writes a stretch and says where the slot lies now, if it lies in it."""
        if slot is None or not start <= slot.start <= slot.end <= end:
            self._piece(start, end)
            return None
        self._piece(start, slot.start)
        new_start = len(self.shell)
        self._piece(slot.start, slot.end)
        new_end = len(self.shell)
        self._piece(slot.end, end)
        return Span(new_start, new_end)

    def _carried(self, unit: CarriedSpan) -> CarriedSpan:
        self.shell += self._read(unit.start - unit.lead, unit.start)
        start = len(self.shell)
        self._piece(unit.start, unit.end)
        return CarriedSpan(unit.ordinal, unit.lead, start, len(self.shell))

    def _piece(self, start: int, end: int) -> None:
        old = self._read(start, end)
        text = old.decode("utf-8", "surrogateescape")
        new = self._rewrite(text)
        self.is_changed = self.is_changed or new != text
        self.shell += old if new == text else to_bytes(new)


def between(chunks: Iterable[bytes], rewrite: Rewrite) -> Iterator[bytes]:
    """A stretch of a file that begins outside of any string. Held in memory: no more than its longest string."""
    held, enough = b"", 0
    for chunk in chunks:
        held += chunk
        if len(held) < enough:
            continue
        ready = _cut(held)
        if ready:
            yield to_bytes(rewrite(held[:ready].decode("utf-8", "surrogateescape")))
        # an open string is looked at again when twice as much of it is there
        held = held[ready:]
        enough = 2 * len(held)
    yield to_bytes(rewrite(held.decode("utf-8", "surrogateescape")))


def _cut(text: bytes) -> int:
    """Up to where strings are whole. A line end closes what a broken line left open."""
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
    # bytes of one character stay together
    end = len(text)
    while end > place and text[end - 1] >= 0x80:
        end -= 1
    return end
