"""What surrounds the messages of a document (head, tail, carried units, a slot), written anew piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from chainviz.core.documents.units import CarriedSpan, Envelope, Span
from chainviz.store.exports import envelope_of, shell_reader
from chainviz.store.models import Snapshot
from chainviz.store.sources import Read, decode, encode

Rewrite = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Surroundings:
    envelope: Envelope
    shell: bytes
    """What the envelope points into."""


def rewritten(snapshot: Snapshot, rewrite: Rewrite) -> Surroundings | None:
    """None where `rewrite` changes nothing. Each piece is given alone: what spans two of them is two texts."""
    if snapshot.template is None:
        return None
    writer = _Writer(shell_reader(snapshot), rewrite)
    envelope = writer.write(envelope_of(snapshot))
    return Surroundings(envelope, bytes(writer.shell)) if writer.is_changed else None


def pieces_around(snapshot: Snapshot) -> list[str]:
    """What surrounds the messages, as it is."""
    found: list[str] = []

    def keep(text: str) -> str:
        found.append(text)
        return text

    rewritten(snapshot, keep)
    return found


def size_around(snapshot: Snapshot) -> int:
    """Bytes of what surrounds the messages, without reading it."""
    envelope = envelope_of(snapshot)
    carried = sum(each.end - each.start for each in envelope.carried)
    return carried + (envelope.region.end - envelope.region.start) - (envelope.content.end - envelope.content.start)


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
        text = decode(old)
        new = self._rewrite(text)
        if new != text:
            self.is_changed = True
            self.shell += encode(new)
        else:
            self.shell += old
