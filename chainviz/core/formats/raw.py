"""Raw text: what no format reads, kept as one human message that is the whole file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chainviz.core.chain.messages import HUMAN, NEW, Fragment, Message, Opaque, Role, Text, text_of
from chainviz.core.documents.detection.detect import raw_list
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Sample, Unit
from chainviz.core.formats.contract import Format, Style


class Raw(Format):
    name = "raw"
    label = "Raw text"
    tested_with = "any"
    blocks_at = ()
    lines = True

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return (raw_list(source),)

    def confidence(self, sample: Sample) -> float:
        """Never detected: a person chooses it."""
        return 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            source = (unit.fragment(),)
            yield Message(HUMAN, (Text(unit.text, origin=0),), source=source)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return Message(HUMAN, (Text(source[0].text, origin=0),), source=source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        text = text_of(message)
        if not message.source:
            return (Fragment(NEW, "", text),)
        first = message.source[0]
        return (first,) if first.text == text else (Fragment(first.ordinal, first.lead, text),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = [] if message.role == HUMAN else ["roles are left out"]
        if any(not isinstance(part, Text | Opaque) for part in message.parts):
            lost.append("only text is kept")
        return tuple(lost)
