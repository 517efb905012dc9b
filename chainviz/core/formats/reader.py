"""From a found list to messages: units through a format's eyes."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.core.chain.messages import Message
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import Envelope, FoundList, Unit
from chainviz.core.formats.contract import Format


class ChainReader:
    """Iterate once for the messages; then `envelope` and `warnings` are complete."""

    def __init__(self, source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> None:
        self._units = UnitReader(source, found, format.slot_key, salvage=salvage)
        self._format = format

    def __iter__(self) -> Iterator[Message]:
        for item in self._format.read(self._units):
            if type(item) is Unit:
                self._units.carry(item)
                if not self._units.found.lines:
                    self._units.warn(item.start, "an element that is no message stands in the list; it stays in its place")
            elif isinstance(item, Message):
                yield item

    @property
    def envelope(self) -> Envelope:
        return self._units.envelope

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.envelope.warnings


def read_chain(source: Source, found: FoundList, format: Format, *, salvage: bool = False) -> ChainReader:
    return ChainReader(source, found, format, salvage=salvage)
