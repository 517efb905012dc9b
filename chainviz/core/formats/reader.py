"""From a found list to messages: units through a format's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.documents.sequence_reader import read_units
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Envelope, FoundList, Unit
from chainviz.core.formats.contract import Format
from chainviz.core.formats.coverage import Coverage


class ChainReader:
    """Iterate once for the messages; then `envelope` and `warnings` are complete."""

    def __init__(self, source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> None:
        self._units = read_units(source, found, format.slots_of(found.inside), salvage=salvage)
        self._format = format
        self._has_slot = False
        self._coverage = Coverage(format, source if found.lines else None)

    def __iter__(self) -> Iterator[Message]:
        for item in self._format.read(self._own()):
            if type(item) is Unit:
                self._units.carry(item)
                if not self._units.found.raw:
                    self._coverage.carry(item)
                if not self._units.found.lines:
                    said = "not part of the chain" if self._format.is_message(item.value) else "not a message"
                    self._units.warn(item.start, f"an element of the list is {said}; it is kept in place")
            elif isinstance(item, Message):
                self._coverage.show(item)
                self._has_slot = self._has_slot or (item.source[0].ordinal == SLOT if item.source else False)
                yield item

    def _own(self) -> Iterator[Unit]:
        found = self._units.found
        for unit in self._units:
            if (found.only is None or unit.start in found.only) and unit.start not in found.left_out:
                if not found.raw:
                    self._coverage.expect(unit)
                yield unit
            else:
                self._units.carry(unit)
                self._coverage.carry(unit, is_aside=True)

    @property
    def share_read(self) -> float:
        """How much of the units that were read so far is understood, from 0 to 1."""
        return self._coverage.share_read

    @property
    def envelope(self) -> Envelope:
        """A slot whose value is no message (null) is none: it stays as it is."""
        envelope = self._units.envelope
        envelope = replace(envelope, unread=(*envelope.unread, *self._coverage.unread))
        return envelope if self._has_slot else replace(envelope, slot=None)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.envelope.warnings


def read_chain(source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> ChainReader:
    return ChainReader(source, found, format, salvage=salvage)
