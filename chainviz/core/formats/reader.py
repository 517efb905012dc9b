"""From a found list to messages: units through a format's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.documents.sequence_reader import read_units
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Envelope, FoundList, Unit
from chainviz.core.formats.contract import Format


class ChainReader:
    """Iterate once for the messages; then `envelope` and `warnings` are complete."""

    def __init__(self, source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> None:
        self._units = read_units(source, found, format.slots_of(found.inside), salvage=salvage)
        self._format = format
        self._has_slot = False
        self._strange = 0

    def __iter__(self) -> Iterator[Message]:
        for item in self._format.read(self._own()):
            if type(item) is Unit:
                self._units.carry(item)
                if not self._units.found.lines:
                    is_message = self._format.is_message(item.value)
                    self._strange += not is_message
                    said = "not part of the chain" if is_message else "not a message"
                    self._units.warn(item.start, f"an element of the list is {said}; it is kept in place")
            elif isinstance(item, Message):
                self._has_slot = self._has_slot or (item.source[0].ordinal == SLOT if item.source else False)
                yield item

    def _own(self) -> Iterator[Unit]:
        only, left_out = self._units.found.only, self._units.found.left_out
        for unit in self._units:
            if (only is None or unit.start in only) and unit.start not in left_out:
                yield unit
            else:
                self._units.carry(unit)

    @property
    def envelope(self) -> Envelope:
        """A slot whose value is no message (null) is none: it stays as it is. What is no message and lies among them is not
        understood."""
        envelope = self._units.envelope
        if self._strange:
            one = self._strange == 1
            said = f"{self._strange:,} element{' of the list is not a message' if one else 's of the list are not messages'}."
            envelope = replace(envelope, not_understood=(*envelope.not_understood, said))
        return envelope if self._has_slot else replace(envelope, slot=None)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.envelope.warnings


def read_chain(source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> ChainReader:
    return ChainReader(source, found, format, salvage=salvage)
