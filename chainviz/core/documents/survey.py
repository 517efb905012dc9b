"""Where the message lists of a document lie (step one of detection). Knows what a message looks like, no format."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from chainviz.core.documents import rawjson
from chainviz.core.documents.outline import Line, Nested, Place, looks_like_message, outline, outline_lines, shallow
from chainviz.core.documents.scanning import Window, byte_length, fault, in_words, skip_space
from chainviz.core.documents.sources import Source
from chainviz.core.documents.split import UnitReader
from chainviz.core.documents.units import FoundList, Pointer, Sample, Span
from chainviz.core.errors import DocumentError

SAMPLE_UNITS = 16
SAMPLE_BYTES = 1 << 22
CUT = 1 << 12
MANY = 100
"""Lists beyond these are sampled shortly."""
PROBE_LINES = 8
MOST_TOLD = 20
"""Oddities of a file that are told one by one."""
_EMPTY = re.compile(rb'\s*(?:\[\s*\]|\{.*"(?:messages|contents|conversations|traj|input|history)"\s*:\s*\[\s*\].*\})\s*', re.DOTALL)
_NOTHING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[(\s*)\]\s*")
LARGEST_EMPTY = 1 << 16
CHECKED = 1 << 23
"""A document without message lists is parsed up to this size to say what is wrong in it."""


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
    _refuse_strangers(source, begin)
    try:
        places, end = outline(source, begin)
    except DocumentError as error:
        return _broken(source, begin, error, salvage)
    rest = Window(source, end, source.size)
    after = skip_space(rest, 0)
    if after < len(rest.text):
        offset = rest.offset(after)
        first = source.read(begin, begin + 1).decode()
        if (first == "{" and rest.text[after] == "[") or first == rest.text[after] or _has_lines(source, begin):
            return _survey_lines(source, begin)
        fault(source, offset, "something follows where the document has ended")
    places = places or _system_alone(source, begin, end)
    if not places:
        if _is_event_line(source, begin, end):
            return _survey_lines(source, begin)
        _nothing_found(source, begin)
    return Survey(tuple(_describe(source, places)))


def raw_list(source: Source) -> FoundList:
    """The whole file as one text, for what cannot be understood."""
    return FoundList((), "", Span(0, source.size), 0, source.size, lines=True, raw=True)


def empty_list(source: Source) -> FoundList | None:
    """A file that is a list of nothing: no message says what it is, so only somebody who names its format can mean it."""
    content = source.read(0, source.size) if source.size < LARGEST_EMPTY else b""
    found = _NOTHING.fullmatch(content)
    return FoundList((), "", Span(0, source.size), found.start(1), found.end(1)) if found else None


def _refuse_strangers(source: Source, begin: int) -> None:
    head = source.read(begin, begin + 512)
    if not head:
        raise DocumentError("The file is empty: there is nothing to show.")
    line, column = source.place(begin)
    where = f"Line {line}, column {column}"
    if head[:1] in b"{[":
        return
    if head[:1] == b"<":
        raise DocumentError(
            f"{where}: this is HTML or XML, not JSON; export the transcript as JSON, or keep it as raw text.",
            line, column, begin, raw=True,
        )  # fmt: skip
    if b"\0" in head:
        raise DocumentError(f"{where}: this is binary, not text; upload the transcript as JSON.", line, column, begin)
    if _has_lines(source, begin):
        return
    if source.size < CHECKED and _is_json(source.read(begin, source.size)):
        raise DocumentError(
            f"{where}: the file is JSON, but only a single value; a list of messages is needed.",
            line, column, begin, raw=True,
        )  # fmt: skip
    raise DocumentError(
        f"{where}: this is not JSON: it begins with “{head[:20].decode('utf-8', 'replace').split(chr(10))[0]}” where "
        "a “{” or “[” is expected; upload JSON or JSON Lines, or keep it as raw text.",
        line, column, begin, raw=True,
    )  # fmt: skip


def _has_lines(source: Source, begin: int) -> bool:
    """Whether lines after the first are JSON objects of their own."""
    lines = source.read(begin, begin + (1 << 20)).split(b"\n")[1:PROBE_LINES]
    return any(line.startswith(b"{") and len(line) > 2 and _is_json(line) for line in lines)


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _broken(source: Source, begin: int, error: DocumentError, salvage: bool) -> Survey:
    """The document cannot be walked to its end: are these lines, or can a part be kept?"""
    if _has_lines(source, begin):
        return _survey_lines(source, begin)
    if "nested" in str(error):
        raise error
    found = _open_list(source, begin)
    if found is None:
        _parse_error(source, begin)
        raise error
    if salvage:
        return Survey((replace(found, warnings=(str(error),)),))
    reader = UnitReader(source, found, salvage=True)
    whole = sum(1 for _ in reader)
    try:
        for _ in UnitReader(source, found, shell=False):
            pass
    except DocumentError as exact:
        error = exact
    if error.salvage == whole:
        raise error
    fault(source, error.offset, str(error).split(": ", 1)[1].split(". ")[0].rstrip("."), whole)
    return None


def _open_list(source: Source, begin: int) -> FoundList | None:
    """The message list that is cut off or broken: the first one that looks like it."""
    head = source.read(begin, begin + CHECKED).decode("utf-8", "surrogateescape")
    at = 0
    while (at := head.find("[", at)) >= 0:
        inner = at + 1 + (len(head[at + 1 :]) - len(head[at + 1 :].lstrip()))
        if head[inner : inner + 1] == "{" and looks_like_message(shallow(head[inner : inner + (1 << 18)], 0)):
            start = begin + len(head[: at + 1].encode("utf-8", "surrogateescape"))
            key = head[:at].rstrip().removesuffix(":").rstrip().rpartition('"')[0].rpartition('"')[2]
            pointer: Pointer = (key,) if at and key else ()
            found = FoundList(pointer, "", Span(0, source.size), start, source.size, pointer)
            return replace(found, sample=_sample(source, found))
        at += 1
    return None


def _parse_error(source: Source, begin: int) -> None:
    """Say exactly what is wrong in a document of ordinary size."""
    text = source.read(begin, begin + CHECKED).decode("utf-8", "surrogateescape")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if begin + CHECKED >= source.size or error.pos < len(text) - 64:
            fault(source, begin + len(text[: error.pos].encode("utf-8", "surrogateescape")), in_words(error.msg))
    except (ValueError, RecursionError):
        pass


def _nothing_found(source: Source, begin: int) -> None:
    _parse_error(source, begin)
    if source.size < CHECKED and _EMPTY.fullmatch(source.read(begin, source.size)):
        raise DocumentError("The list of messages is empty: there is nothing to show.", raw=True)
    head = shallow(source.read(begin, begin + (1 << 16)).decode("utf-8", "surrogateescape"), 0)
    keys = ", ".join(f"“{key[:30]}”" for key in list(head)[:6])
    raise DocumentError(
        "The file is JSON, but there is no list of messages in it"
        + (f" (its keys are {keys})" if keys else "")
        + "; upload a transcript, choose its format, or keep it as raw text.",
        raw=True,
    )


def _describe(source: Source, places: list[Place]) -> list[FoundList]:
    found = []
    places = _without_answers(sorted(places, key=lambda place: place.start))
    for number, place in enumerate(places):
        if len(places) == 1:
            region, inside = Span(0, source.size), place.pointer
        else:
            region, inside = _own_region(places, number)
        item = FoundList(place.pointer, "", region, place.start, place.end, inside, single=place.single)
        sample = _sample(source, item, SAMPLE_UNITS if number < MANY else 2)
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


def _sample(source: Source, found: FoundList, units: int = SAMPLE_UNITS) -> Sample:
    values: list[Any] = []
    first = found.start
    try:
        # broken lines give no units: do not look for good ones through the whole file
        near = Span(found.region.start, min(found.region.end, first + 4 * SAMPLE_BYTES)) if found.lines else found.region
        item = replace(found, inside=(), region=near)
        for unit in islice(UnitReader(source, item, salvage=not found.lines), units):
            values.append(unit.value if len(unit.text) < CUT else _cut(unit.value))
            if unit.start - first > SAMPLE_BYTES:
                break
    except DocumentError:
        pass
    key = next((step for step in found.pointer[::-1] if isinstance(step, str)), "") if not found.lines else ""
    return Sample(tuple(values), {} if found.lines else _beside(source, found), key, found.lines)


def _cut(value: Any) -> Any:
    """The value with long texts cut: a sample tells the shape only."""
    if isinstance(value, str):
        return value[:CUT]
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return {key: _cut(item) for key, item in value.items()} if isinstance(value, dict) else value


def _beside(source: Source, found: FoundList) -> dict[str, Any]:
    """The members beside the list; {} where there are none or they are too many to look at."""
    region = found.region
    if found.single or not found.inside or region.end - region.start - (found.end - found.start) > SAMPLE_BYTES:
        return {}
    text = (source.read(region.start, found.start) + source.read(found.end, region.end)).decode("utf-8", "replace")
    try:
        value = json.loads(text.removeprefix("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return {}
    for step in found.inside[:-1]:
        value = value[step]
    return {key: item for key, item in value.items() if key != found.inside[-1]} if isinstance(value, dict) else {}


def _system_alone(source: Source, begin: int, end: int) -> list[Place]:
    """A request whose list of messages is empty may still hold a system text beside it."""
    text = source.read(begin, min(end, begin + (1 << 18))).decode("utf-8", "surrogateescape")
    members = shallow(text, 0)
    if not members.get("system") or not isinstance(members.get("messages"), Nested):
        return []
    start, stop = rawjson.span_of(text, ("messages",)) or (0, 0)
    if text[start:stop].strip("[] \t\r\n"):
        return []
    first, last = (begin + byte_length(text[:at]) for at in (start + 1, stop - 1))
    return [Place(("messages",), first, last, Span(begin, end))]


def _is_event_line(source: Source, begin: int, end: int) -> bool:
    """One line that is no message may still be a log of one event."""
    members = shallow(source.read(begin, min(end, begin + (1 << 18))).decode("utf-8", "surrogateescape"), 0)
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
        return Survey((replace(found, sample=_sample(source, found)),), lines=True)
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
        found.append(replace(item, sample=_sample(source, item, units)))
    return found


__all__ = ["FoundList", "Survey", "pointer_text", "raw_list", "survey"]
