"""Where the message lists of a document lie (step one of detection). Knows what a message looks like, no format."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice

from chainviz.core.documents import json_edit
from chainviz.core.documents.cut_off import open_list
from chainviz.core.documents.diagnostics import CHECKED, refuse_strangers, refuse_without_messages
from chainviz.core.documents.find_lists import SNIFF, Place, outline, shallow
from chainviz.core.documents.json_lines import PROBE_LINES, Line, has_lines, outline_lines
from chainviz.core.documents.json_scan import Window, byte_length, fault, skip_space
from chainviz.core.documents.sample import SAMPLE_UNITS, take_sample
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Pointer, Sample, Span
from chainviz.core.errors import DocumentError

MANY = 100
"""Lists beyond these are sampled shortly."""
MOST_TOLD = 20
"""Oddities of a file that are told one by one."""
_NOTHING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[(\s*)\]\s*")
LARGEST_EMPTY = 1 << 16


@dataclass(frozen=True, slots=True)
class Survey:
    lists: tuple[FoundList, ...]
    lines: bool = False
    """The file is JSON Lines, with messages or with whole chains on its lines."""


def survey(source: Source, *, salvage: bool = False) -> Survey:
    """Find the message lists. DocumentError where there is no JSON or nothing that looks like a message.

    With `salvage` a document that is cut off is found up to where it ends.
    """
    window = Window(source, 0, source.size)
    start = 1 if window.text.startswith("\ufeff") else 0
    begin = window.offset(skip_space(window, start))
    refuse_strangers(source, begin)
    try:
        places, end = outline(source, begin)
    except DocumentError as error:
        if has_lines(source, begin):
            return _survey_lines(source, begin)
        return Survey((open_list(source, begin, error, salvage=salvage),))
    rest = Window(source, end, source.size)
    after = skip_space(rest, 0)
    if after < len(rest.text):
        offset = rest.offset(after)
        first = source.read(begin, begin + 1).decode()
        if first + rest.text[after] in ("{{", "[[", "{[") or has_lines(source, begin):
            return _survey_lines(source, begin)
        fault(source, offset, "something follows where the document has ended")
    places = places or _system_alone(source, begin, end)
    if not places:
        if _is_event_line(source, begin, end):
            return _survey_lines(source, begin)
        refuse_without_messages(source, begin)
    return Survey(tuple(_describe(source, places)))


def raw_list(source: Source) -> FoundList:
    """The whole file as one text, for what cannot be understood."""
    return FoundList((), "", Span(0, source.size), 0, source.size, lines=True, raw=True)


def empty_list(source: Source) -> FoundList | None:
    """A file that is a list of nothing: no message says what it is, so only somebody who names its format can mean it."""
    content = source.read(0, source.size) if source.size < LARGEST_EMPTY else b""
    found = _NOTHING.fullmatch(content)
    return FoundList((), "", Span(0, source.size), found.start(1), found.end(1)) if found else None


def _describe(source: Source, places: list[Place]) -> list[FoundList]:
    found = []
    places = _without_answers(sorted(places, key=lambda place: place.start))
    for number, place in enumerate(places):
        if len(places) == 1:
            region, inside = Span(0, source.size), place.pointer
        else:
            region, inside = _own_region(places, number)
        item = FoundList(place.pointer, "", region, place.start, place.end, inside, single=place.single)
        sample = take_sample(source, item, SAMPLE_UNITS if number < MANY else 2)
        if len(places) == 1 and not sample.values:
            next(iter(UnitReader(source, item, shell=False)), None)
        title = "" if len(places) == 1 else _title(place.pointer, inside, sample)
        found.append(replace(item, title=title, sample=sample))
    return found


def _without_answers(places: list[Place]) -> list[Place]:
    """The answer beside a list that already ends with it is no chain of its own; the one a request got is."""
    if all(place.single for place in places):
        return places
    return [place for place in places if not place.single or place.pointer[:1] == ("response",)]


def _title(pointer: Pointer, inside: Pointer, sample: Sample) -> str:
    """Where the chain lies, and what its document calls it."""
    place = pointer_text(pointer[:-1] if len(inside) == 1 and len(pointer) > 1 else pointer)
    names = (sample.beside.get(key) for key in _NAMES)
    name = next((str(name) for name in names if isinstance(name, str | int) and str(name).strip()), "")
    return f"{place} · {name[:60]}" if name else place


_NAMES = ("title", "name", "task_id", "custom_id", "id", "instance_id", "session_id")


def _own_region(places: list[Place], number: int) -> tuple[Span, Pointer]:
    """The object around the list, unless it holds another list too: regions never overlap."""
    place = places[number]
    outer = place.outer
    alone = outer is not None and not any(
        outer.start <= places[other].start < outer.end
        for other in (number - 1, number + 1)
        if 0 <= other < len(places)
    )
    if outer is not None and alone:
        return outer, place.pointer[-1:]
    edge = 0 if place.single else 1
    return Span(place.start - edge, place.end + edge), ()


def pointer_text(pointer: Pointer) -> str:
    """`simulations[3].messages` for a person."""
    text = ""
    for step in pointer:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _system_alone(source: Source, begin: int, end: int) -> list[Place]:
    """A request whose list of messages is empty may still hold a system text beside it."""
    text = source.text(begin, min(end, begin + CHECKED))
    try:
        value = json_edit.parse(text)
    except (ValueError, RecursionError):
        return []
    if type(value) is not dict or not value.get("system") or value.get("messages") != []:
        return []
    start, stop = json_edit.span_of(text, ("messages",)) or (0, 0)
    first, last = (begin + byte_length(text[:at]) for at in (start + 1, stop - 1))
    return [Place(("messages",), first, last, Span(begin, end))]


def _is_event_line(source: Source, begin: int, end: int) -> bool:
    """One line that is no message may still be a log of one event."""
    members = shallow(source.text(begin, min(end, begin + SNIFF)), 0)
    return "message" in members and "type" in members and not isinstance(members["message"], str)


def _survey_lines(source: Source, begin: int) -> Survey:
    """Messages on lines, or a whole chain on each line?"""
    first = [line for line in islice(outline_lines(source, begin), 4 * PROBE_LINES) if isinstance(line, Line)]
    first = first[:PROBE_LINES]
    chains = sum(1 for line in first if any(not place.single or len(place.pointer) > 1 for place in line.places))
    if chains * 2 <= len(first) or not first:
        found = FoundList((), "", Span(0, source.size), 0, source.size, lines=True)
        start = len("\ufeff".encode()) if source.bom else 0
        found = replace(found, start=start)
        return Survey((replace(found, sample=take_sample(source, found)),), lines=True)
    lists: list[FoundList] = []
    warnings: list[str] = []
    number = 0
    for line in outline_lines(source, begin):
        if not isinstance(line, Line):
            warnings.append(f"{line[1].rstrip('.')}; the line is kept as it is.")
            continue
        if line.number == number:
            place, column = source.place(line.region.start)
            warnings.append(f"Line {place}, column {column}: a second value stands on the same line.")
        number = line.number
        lists += _describe_line(source, line, SAMPLE_UNITS if len(lists) < MANY else 2)
    told = (*warnings[:MOST_TOLD], *([f"{len(warnings) - MOST_TOLD} more like these."] if len(warnings) > MOST_TOLD else []))
    return Survey(tuple(replace(found, warnings=told) for found in lists), lines=True)


def _describe_line(source: Source, line: Line, units: int) -> list[FoundList]:
    found = []
    places = sorted(line.places, key=lambda place: place.start)
    for at, place in enumerate(places):
        if len(places) == 1:
            region, inside = line.region, place.pointer[1:]
        else:
            region, inside = _own_region(places, at)
        title = f"line {line.number}" + (f": {pointer_text(place.pointer[1:])}" if len(places) > 1 else "")
        item = FoundList(place.pointer, title, region, place.start, place.end, inside, single=place.single)
        found.append(replace(item, sample=take_sample(source, item, units)))
    return found


__all__ = ["FoundList", "Survey", "pointer_text", "raw_list", "survey"]
