"""Read a chain in several lists of its document, or inside JSON strings, as one list of units.

Ordinals in the second list of the file start at LIST_STEP, and so on. The text between two lists is carried, so an edit in one list
never changes the other. Units inside a string are read as JSON text, and the envelope stores their spelling in the upload, so that
unchanged units are written back byte for byte.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from chainviz.core.chain.messages import SLOT
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.decode import Quoted
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import LIST_STEP, CarriedSpan, Envelope, FoundList, Lists, ListSpan, Pointer, Span, Unit


class SequenceReader:
    """The units of a chain in several lists, in chain order. Iterate once; after that `envelope` is complete."""

    def __init__(self, source: Source, found: FoundList, slots: Sequence[Pointer] = (), *, salvage: bool = False) -> None:
        self.source = source
        self.found = found
        self._salvage = salvage
        self._slots = slots
        self._slot: tuple[str, Span] | None = None
        self._warnings: list[str] = []
        self._carried: list[CarriedSpan] = []
        self._spelled: dict[int, CarriedSpan] = {}
        self._leads: Counter[str] = Counter()
        self._first_lead = ""
        self._bounds: dict[int, Span] = {}
        """The range from the first to the last unit of each list, in the upload."""

    def __iter__(self) -> Iterator[Unit]:
        yield from self._read_slot()
        for item in self.found.lists:
            if item.string is None:
                yield from self._plain(item)
            else:
                yield from self._quoted(item, item.string)

    def carry(self, unit: Unit) -> None:
        """Note a unit that is not a message, so that it is written back in its place."""
        end = unit.start + byte_length(unit.text)
        span = CarriedSpan(unit.ordinal, byte_length(unit.lead), unit.start, end)
        self._carried.append(self._spelled.pop(unit.ordinal, span))

    def warn(self, offset: int, what: str) -> None:
        if offset < 0:
            self._warnings.append(f"{what[:1].upper()}{what[1:]}.")
            return
        line, column = self.source.place(offset)
        self._warnings.append(f"Line {line}, column {column}: {what}.")

    @property
    def envelope(self) -> Envelope:
        found = self.found
        lead = self._leads.most_common(1)[0][0] if self._leads else "," + (self._first_lead or " ")
        carried = sorted([*self._carried, *self._between()], key=lambda span: span.ordinal)
        return Envelope(
            region=found.region,
            content=Span(self._bounds[0].start, self._bounds[len(self._bounds) - 1].end),
            pointer=found.pointer,
            inside=found.inside,
            lead=lead,
            first_lead=self._first_lead,
            slot_key=self._slot[0] if self._slot else "",
            slot=self._slot[1] if self._slot else None,
            carried=tuple(carried),
            lists=Lists(
                order=tuple(item.number for item in found.lists),
                singles=tuple(item.number for item in found.lists if item.single),
                quoted=tuple(item.number for item in found.lists if item.string is not None),
                spelled=tuple(sorted(self._spelled.values(), key=lambda span: span.ordinal)),
            ),
            encoding=self.source.text_encoding,
            bom=self.source.bom,
            warnings=tuple(dict.fromkeys((*found.warnings, *self._warnings))),
            unread=found.unread,
        )

    def _read_slot(self) -> Iterator[Unit]:
        """Yield the system prompt beside the first list."""
        for slot in self._slots:
            place = self._place_beside(slot)
            if place is not None:
                text = self.source.text(place.start, place.end)
                self._slot = (str(slot[-1]), place)
                yield Unit(SLOT, "", text, json_edit.parse(text), place.start)
                return

    def _place_beside(self, pointer: Pointer) -> Span | None:
        """Return the span of a value outside the lists, or None if there is no such value."""
        around = self.found.around
        singles = {item.start for item in self.found.lists if item.single}
        # the lists are empty lists or strings in this text, and single messages are null
        pieces = [self.source.text(span.start, span.end) + ("null" if span.end in singles else "") for span in around]
        with suppress(ValueError, IndexError, RecursionError):
            place = json_edit.span_of("".join(pieces), pointer)
            length = 0
            for span, piece in zip(around, pieces, strict=True) if place else ():
                if place and length <= place[0] and place[1] <= length + len(piece):
                    start, end = (span.start + byte_length(piece[: at - length]) for at in place)
                    return Span(start, end)
                length += len(piece)
        return None

    def _between(self) -> Iterator[CarriedSpan]:
        """Yield the text before each list but the first."""
        for number in range(1, len(self._bounds)):
            start, end = self._bounds[number - 1].end, self._bounds[number].start
            yield CarriedSpan(number * LIST_STEP - 1, 0, start, end)

    def _plain(self, item: ListSpan) -> Iterator[Unit]:
        here = FoundList((), "", self.found.region, item.start, item.end, single=item.single, raw=self.found.raw)
        reader = UnitReader(self.source, here, salvage=self._salvage, shell=False)
        for unit in reader:
            self._count(unit)
            yield unit._replace(ordinal=unit.ordinal + item.number * LIST_STEP)
        self._warnings += reader.warnings
        self._bounds[item.number] = reader.envelope.content

    def _quoted(self, item: ListSpan, string: Span) -> Iterator[Unit]:
        quoted = Quoted(self.source.read(string.start, string.end), string)
        with open_source(quoted.text) as text:
            here = FoundList((), "", Span(0, text.size), item.start, item.end, single=item.single)
            reader = UnitReader(text, here, salvage=True, shell=False)
            for unit in reader:
                self._count(unit)
                ordinal = unit.ordinal + item.number * LIST_STEP
                start, lead = quoted.offset(unit.start), quoted.offset(unit.start - byte_length(unit.lead))
                end = quoted.offset(unit.start + byte_length(unit.text))
                self._spelled[ordinal] = CarriedSpan(ordinal, start - lead, start, end)
                yield unit._replace(ordinal=ordinal, start=-1)
            inside = reader.envelope.content
            self._bounds[item.number] = Span(quoted.offset(inside.start), quoted.offset(inside.end))
        for warning in reader.warnings:
            self.warn(string.start, f"in the text that starts here, {warning.partition(': ')[2].removesuffix('.')}")

    def _count(self, unit: Unit) -> None:
        if unit.ordinal:
            self._leads[unit.lead] += 1
        elif not self._first_lead:
            self._first_lead = unit.lead


def read_units(source: Source, found: FoundList, slots: Sequence[Pointer] = (), *, salvage: bool = False) -> UnitReader | SequenceReader:
    """Return the reader for a chain's units, which are in one list, several lists or JSON strings."""
    if found.lists:
        return SequenceReader(source, found, slots, salvage=salvage)
    return UnitReader(source, found, slots, salvage=salvage)
