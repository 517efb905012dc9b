"""Split one list of a source into units. Reads through a sliding window, so only the current units are in memory.

Broken lines of a JSON Lines file become carried units with a warning. A broken list raises DocumentError with the number of
complete messages before the fault; with `salvage`, the rest of the file is kept unchanged after them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress

from chainviz.core.chain.messages import SLOT
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.decode import Broken, Values
from chainviz.core.documents.json.scan import Oddities, Window, byte_length, decoder, fault, in_words
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import CarriedSpan, Envelope, FoundList, Pointer, Span, Unit

MAX_WARNINGS = 20
MAX_SHELL = 1 << 26
MANY_BROKEN = 50
RAW_LIMIT = 1 << 26
AHEAD = 1 << 16
"""The number of characters to have in the window before a value is parsed. A parse that reaches the end of the window must be
repeated, and its error is slow, because Python counts the lines of the whole window."""
_SPACE_AND_COMMA = re.compile(r"[ \t\r\n]*(,?)[ \t\r\n]*")
_LINE_SPACE = re.compile(r"[ \t\r\n]*")


class UnitReader:
    """The units of one list. Iterate once; after that `envelope` is complete."""

    def __init__(
        self, source: Source, found: FoundList, slots: Sequence[Pointer] = (), *, salvage: bool = False, shell: bool = True
    ) -> None:
        """`slots` are the possible pointers of the slot, relative to the region. If the document has no slot, a new one is written at the
        first."""
        self.source = source
        self.found = found
        self.warnings: list[str] = []
        """The warnings of the units, without those of the list."""
        self.carried: list[CarriedSpan] = []
        self._slots = {str(slot[-1]): slot for slot in slots}
        self._slot_key = next(iter(self._slots), "")
        self._salvage = salvage
        self._has_shell = shell and not salvage
        self._odd = Oddities()
        self._values = Values(source, self._odd, lines=found.lines)
        self._leads: Counter[str] = Counter()
        self._first_lead = ""
        self._end = found.start
        self._slot: Span | None = None
        self._muted = 0

    @property
    def envelope(self) -> Envelope:
        found = self.found
        extra = [f"{self._muted} more warnings of this kind are not shown."] if self._muted else []
        return Envelope(
            region=found.region,
            content=Span(found.start, self._end),
            pointer=found.pointer,
            lines=found.lines,
            inside=found.inside,
            lead=self._usual_lead(),
            first_lead=self._first_lead,
            single=found.single,
            carried=tuple(sorted(self.carried, key=lambda span: span.ordinal)),
            slot_key=self._slot_key,
            slot=self._slot,
            encoding=self.source.text_encoding,
            bom=self.source.bom,
            warnings=(*found.warnings, *self.warnings, *extra),
            unread=found.unread,
        )

    def carry(self, unit: Unit) -> None:
        """Note a unit that is not a message, so that it is written back in its place."""
        end = unit.start + byte_length(unit.text)
        is_aside = self.found.only is not None and unit.start not in self.found.only
        self.carried.append(CarriedSpan(unit.ordinal, byte_length(unit.lead), unit.start, end, is_aside))

    def __iter__(self) -> Iterator[Unit]:
        found = self.found
        if found.raw:
            yield from self._whole()
            return
        if not found.lines:
            yield from self._read_slot()
        units = self._lines() if found.lines else self._single() if found.single else self._elements()
        yield from units

    def _usual_lead(self) -> str:
        if self._leads:
            return self._leads.most_common(1)[0][0]
        if self.found.lines:
            tail = self.source.read(self._end, self._end + 2)
            return "\r\n" if tail == b"\r\n" else "\n"
        return "," + (self._first_lead or " ")

    def _whole(self) -> Iterator[Unit]:
        start, end = self.found.start, self.found.end
        if end - start > RAW_LIMIT:
            fault(self.source, start, f"the text is too long to be kept as one raw text (over {RAW_LIMIT >> 20} MB)")
        text = self.source.text(start, end)
        self._end = end
        yield Unit(0, "", text, text, start)

    def _read_slot(self) -> Iterator[Unit]:
        """Yield the slot, if there is one, before all other units. Raises DocumentError if the text around the list is not JSON."""
        region, found = self.found.region, self.found
        is_bare = found.single and not found.inside
        if is_bare or not self._has_shell or region.end - region.start - (found.end - found.start) > MAX_SHELL:
            return
        cut = "null" if found.single else ""
        head = self.source.text(region.start, found.start) + cut
        tail = self.source.text(found.end, region.end)
        mark = 1 if head.startswith("\ufeff") else 0
        self._check_shell(head, tail, mark, cut)
        if not self._slot_key:
            return
        shell = (head + tail)[mark:]
        spans: dict[str, tuple[int, int] | None] = {}
        with suppress(ValueError, RecursionError):  # an unescaped control character may hide another fault
            spans = {key: json_edit.span_of(shell, slot) for key, slot in self._slots.items()}
        self._slot_key = next((key for key in spans if spans[key]), self._slot_key)
        place = spans.get(self._slot_key)
        if place is None:
            return
        raw = shell[place[0] : place[1]]
        start = region.start + byte_length(head[:mark] + shell[: place[0]])
        if place[0] + mark >= len(head):
            start += found.end - found.start - len(cut)
        self._slot = Span(start, start + byte_length(raw))
        yield Unit(SLOT, "", raw, json_edit.parse(raw), start)

    def _check_shell(self, head: str, tail: str, mark: int, cut: str) -> None:
        shell = head + tail
        try:
            json.JSONDecoder(object_pairs_hook=self._odd.pairs, parse_constant=self._odd.constant).decode(shell[mark:])
        except json.JSONDecodeError as error:
            position = error.pos + mark
            offset = self.found.region.start + byte_length(shell[:position])
            if position >= len(head):
                offset += self.found.end - self.found.start - len(cut)
            if "control character" not in error.msg:
                fault(self.source, offset, in_words(error.msg), self._whole_messages())
            self._odd.see_bare(shell[mark:position], offset)
        except ValueError:
            pass
        except RecursionError:
            fault(self.source, self.found.region.start, "values are nested too deep")
        self._report(self.found.region.start)

    def _whole_messages(self) -> int:
        """Return the number of complete units that can be kept despite a fault after or around them."""
        reader = UnitReader(self.source, self.found, salvage=True)
        return sum(1 for _ in reader)

    def _single(self) -> Iterator[Unit]:
        found = self.found
        text = self.source.text(found.start, found.end)
        window = Window(self.source, found.start, found.end)
        try:
            value, _, _ = self._values.read(window, 0)
        except Broken as broken:
            fault(self.source, window.offset(broken.position), broken.what)
        self._report(found.start)
        self._end = found.end
        yield Unit(0, "", text, value, found.start)

    def _elements(self) -> Iterator[Unit]:
        found = self.found
        window = Window(self.source, found.start, found.region.end)
        scan, ordinal, offset, position = decoder(self._odd), 0, found.start, 0
        odd, leads = self._odd.seen, self._leads
        while True:
            position = window.ahead(position, AHEAD)
            text = window.text
            gap = _SPACE_AND_COMMA.match(text, position)
            assert gap is not None
            begin = gap.end()
            if begin == len(text) and window.more(position):
                position = 0
                continue
            if text[begin : begin + 1] == "]" and not gap[1]:
                return
            try:
                if begin == len(text):
                    raise Broken(begin, "the file ends inside the list: it is cut off")
                if bool(gap[1]) != (ordinal > 0):
                    raise Broken(begin, "a comma is missing or misplaced")
                value, end, begin_now = self._values.read(window, begin, position, scan)
            except Broken as broken:
                self._stop(window.offset(broken.position), broken.what, ordinal)
                return
            if begin_now != begin:
                position, begin = 0, begin_now
            text = window.text
            lead, body = text[position:begin], text[begin:end]
            start = offset + len(lead)
            offset = start + self._length(body)
            if odd:
                self._report(start)
            position = end
            if ordinal:
                leads[lead] += 1
            else:
                self._first_lead = lead
            self._end = offset
            yield Unit(ordinal, lead, body, value, start)
            ordinal += 1

    def _stop(self, offset: int, what: str, whole: int) -> None:
        if not self._salvage:
            fault(self.source, offset, what, whole)
        self.warn(offset, f"{what}; from there on the file is kept as it is, outside the chain")

    def _lines(self) -> Iterator[Unit]:
        found = self.found
        window = Window(self.source, found.start, found.region.end)
        scan, ordinal, offset, position, bad = decoder(self._odd), 0, found.start, 0, 0
        while True:
            position = window.ahead(position, AHEAD)
            gap = _LINE_SPACE.match(window.text, position)
            begin = gap.end() if gap else position
            if begin == len(window.text):
                if not window.more(position):
                    return
                position = 0
                continue
            if found.skips(offset + begin - position):
                begin_now, end = self._line_end(window, begin, position)
                offset += byte_length(window.text[0 if begin_now != begin else position : end])
                position = end
                continue
            what, place = "", 0
            try:
                read = self._values.alone if bad > MANY_BROKEN else self._values.read
                value, end, begin_now = read(window, begin, position, scan)
            except Broken as broken:
                value, what, place = None, broken.what, window.offset(broken.position)
                position = position if broken.begin == begin else 0
                begin = broken.begin
                begin_now, end = self._line_end(window, begin, position)
            if begin_now != begin:
                position, begin = 0, begin_now
            lead, body = window.text[position:begin], window.text[begin:end]
            start = offset + len(lead)
            offset = start + self._length(body)
            position = end
            self._count_lead(lead, start, is_first=not ordinal)
            self._end = offset
            unit = Unit(ordinal, lead, body, value, start)
            ordinal += 1
            if what:
                bad += 1
                self._carry_broken(unit, what, place)
                continue
            self._report(start)
            yield unit

    def _count_lead(self, lead: str, start: int, *, is_first: bool) -> None:
        """Note the white space before a line; `start` is the offset of its value."""
        if is_first:
            self._first_lead = lead
        elif "\n" in lead:
            self._leads[lead] += 1
        else:
            self.warn(start, "a second value is on the same line")

    def _carry_broken(self, unit: Unit, what: str, place: int) -> None:
        """Carry a broken line, with a warning. `place`: the offset of the fault."""
        del self._odd.seen[:]
        self.warn(place, f"{what}; the line is kept as it is, outside the chain")
        self.carry(unit)

    def _line_end(self, window: Window, begin: int, keep: int) -> tuple[int, int]:
        """Read to the end of a broken line. Return its start and end in the window, without the line break."""
        while True:
            end = window.text.find("\n", begin)
            if end >= 0 or not window.more(keep):
                end = end if end >= 0 else len(window.text)
                if end > begin and window.text[end - 1] == "\r":
                    end -= 1
                return begin, end
            begin -= keep
            keep = 0

    def _length(self, body: str) -> int:
        if body.isascii():
            return len(body)
        try:
            return len(body.encode())
        except UnicodeEncodeError:
            self._odd.seen.append("bytes that are not valid UTF-8; they are kept, and shown as broken characters")
            return byte_length(body)

    def _report(self, offset: int) -> None:
        for what in dict.fromkeys(self._odd.seen):
            self.warn(self._odd.places.pop(what, offset), what)
        del self._odd.seen[:]

    def warn(self, offset: int, what: str) -> None:
        if len(self.warnings) >= MAX_WARNINGS:
            self._muted += 1
            return
        line, column = self.source.place(offset)
        self.warnings.append(f"Line {line}, column {column}: {what}.")
