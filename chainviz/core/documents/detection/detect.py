"""Find the message lists of a document (step one of detection). The formats say what a message looks like."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chainviz.core.documents.detection.find_lists import Place, outline
from chainviz.core.documents.detection.json_lines import (
    CHECKED,
    PROBE_LINES,
    Line,
    has_lines,
    open_list,
    outline_lines,
    refuse_strangers,
    refuse_without_messages,
    text_places,
)
from chainviz.core.documents.detection.recognition import SAMPLE_UNITS, SNIFF, Keys, Recognition, take_sample
from chainviz.core.documents.detection.sequences import Group, grouped, trees, with_answers, with_choices, without_repeated
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import Window, byte_length, fault, fault_in, skip_space
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Pointer, Sample, Span
from chainviz.core.errors import DocumentError

MANY = 100
"""The number of lists with a full sample. Later lists have a short one."""
MOST_TOLD = 20
"""The most warnings about a file that are listed one by one."""
_NOTHING = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[(\s*)\]\s*")
LARGEST_EMPTY = 1 << 16


@dataclass(frozen=True, slots=True)
class Survey:
    lists: tuple[FoundList, ...]
    lines: bool = False
    """The file is JSON Lines, with messages or with whole chains on its lines."""


def survey(source: Source, recognition: Recognition, *, salvage: bool = False) -> Survey:
    """Find the message lists of a file. Raises DocumentError if the file is not JSON or contains nothing like a message. With `salvage`,
    a truncated document is read up to its end."""
    window = Window(source, 0, source.size)
    start = 1 if window.text.startswith("\ufeff") else 0
    begin = window.offset(skip_space(window, start))
    refuse_strangers(source, begin)
    try:
        places, end = outline(source, begin, recognition)
    except DocumentError as error:
        if has_lines(source, begin):
            return _survey_lines(source, begin, recognition)
        return Survey((open_list(source, begin, error, recognition, salvage=salvage),))
    rest = Window(source, end, source.size)
    after = skip_space(rest, 0)
    if after < len(rest.text):
        offset = rest.offset(after)
        first = source.read(begin, begin + 1).decode()
        if first + rest.text[after] in ("{{", "[[", "{[") or has_lines(source, begin):
            return _survey_lines(source, begin, recognition)
        fault(source, offset, "there is text after the end of the document")
    places += text_places(source, Span(begin, end), places, recognition.texts)
    places = places or _system_alone(source, begin, end, recognition)
    if not places:
        if _is_event_line(source, begin, end, recognition):
            return _survey_lines(source, begin, recognition)
        refuse_without_messages(source, begin)
    return Survey(tuple(_describe(source, places, recognition)))


def raw_list(source: Source) -> FoundList:
    """Return the whole file as one raw text, for files in no known format."""
    return FoundList((), "", Span(0, source.size), 0, source.size, lines=True, raw=True)


def empty_list(source: Source) -> FoundList | None:
    """Return the list of a file that is only an empty list; None for any other file. It has no detectable format, so a person must name
    one."""
    content = source.read(0, source.size) if source.size < LARGEST_EMPTY else b""
    found = _NOTHING.fullmatch(content)
    return FoundList((), "", Span(0, source.size), found.start(1), found.end(1)) if found else None


def _describe(source: Source, places: list[Place], recognition: Recognition) -> list[FoundList]:
    """Return the chains of a document with their samples and titles."""
    # the only sample of an archive is still a document inside a larger one
    whole = None if source.is_archive else Span(0, source.size)
    chains = _chains(source, places, recognition, whole, 0)
    if len(chains) == 1:
        sample = take_sample(source, chains[0])
        if not sample.values and not chains[0].lists:
            next(iter(UnitReader(source, chains[0], shell=False)), None)
        return [replace(chains[0], sample=sample)]
    found = []
    for number, item in enumerate(chains):
        sample = take_sample(source, item, SAMPLE_UNITS if number < MANY else 2)
        title = _title(item.pointer, item.inside, sample)
        found.append(replace(item, title=_name(source, item.pointer) or title, sample=sample))
    return found


def _name(source: Source, pointer: Pointer) -> str:
    """Return the name that the file gives to the document from which the chain was taken, or ""."""
    place = pointer[1] if source.names and len(pointer) > 1 else None
    return source.names[place] if isinstance(place, int) and place < len(source.names) else ""


def _chains(source: Source, places: list[Place], recognition: Recognition, whole: Span | None, base: int) -> list[FoundList]:
    """Return the chains that the places form. If a chain is alone, `whole` is its document, and its pointers begin at step `base`; None
    if the document may contain other chains."""
    nodes, others = trees(source, places, recognition.trees)
    counted = _counted(others, recognition.copies)
    groups = _without_answers(with_answers(with_choices(grouped(source, counted, recognition.sequences)))) if others else []
    groups = without_repeated(source, groups)
    groups = sorted([*nodes, *groups], key=lambda group: group.span.start) if nodes else groups
    if whole is not None and len(groups) == 1:
        return [groups[0].as_list(whole, groups[0].places[0].pointer[base:])]
    return [group.as_list(*_own_region(groups, number)) for number, group in enumerate(groups)]


def _counted(places: list[Place], copies: Sequence[Keys]) -> list[Place]:
    """Return the places that contain a chain. If keys repeat in an object, the last counts, as in every JSON parser. Copies, and lists
    inside strings, count only if there is no other list."""
    last = {place.pointer: place for place in places}.values()
    first = [place for place in last if not any(_holds(place.keys, keys) for keys in copies)] or [*last]
    return [place for place in first if place.string is None] or first


def _without_answers(groups: list[Group]) -> list[Group]:
    """Return the groups without answers that another list already contains. Such an answer is not a chain of its own."""
    lists = [group for group in groups if not all(place.single for place in group.places)]
    return [group for group in groups if group in lists or "response" in group.places[0].keys] if lists else groups


def _holds(path: Keys, keys: Keys) -> bool:
    return any(path[at : at + len(keys)] == keys for at in range(len(path) - len(keys) + 1))


def _title(pointer: Pointer, inside: Pointer, sample: Sample) -> str:
    """Return a title: the pointer to the chain, and the name that its document gives it."""
    return _called(pointer_text(pointer[:-1] if len(inside) == 1 and len(pointer) > 1 else pointer), sample)


def _called(place: str, sample: Sample) -> str:
    """Return `place` with the name that the document gives the chain, if any."""
    names = (sample.beside.get(key) for key in _NAMES)
    name = next((str(name) for name in names if isinstance(name, str | int) and str(name).strip()), "")
    return f"{place} · {name[:60]}" if name else place


_NAMES = ("title", "name", "task_id", "custom_id", "id", "instance_id", "session_id")


def _own_region(groups: list[Group], number: int) -> tuple[Span, Pointer]:
    """Return the object around the chain, unless it contains another chain too: regions never overlap."""
    group = groups[number]
    first = group.places[0]
    outer = group.holder.span if group.holder else first.outer
    alone = outer is not None and not any(
        outer.start <= groups[other].span.start < outer.end and not groups[other].is_choice_of(group)
        for other in (number - 1, number + 1)
        if 0 <= other < len(groups)
    )
    if outer is not None and alone:
        return outer, first.pointer[group.depth :] if group.holder else first.pointer[first.steps[-1].depth :]
    edge = 0 if first.single else 1
    return Span(group.span.start - edge, group.span.end + edge), ()


def pointer_text(pointer: Pointer) -> str:
    """Return a pointer in words, such as `simulations[3].messages`."""
    text = ""
    for step in pointer:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _system_alone(source: Source, begin: int, end: int, recognition: Recognition) -> list[Place]:
    """Return the place of the system prompt in a request with an empty message list."""
    text = source.text(begin, min(end, begin + CHECKED))
    try:
        value = json_edit.parse(text)
    except (ValueError, RecursionError):
        return []
    for slot, key in recognition.slots if type(value) is dict else ():
        if value.get(slot) and value.get(key) == []:
            start, stop = json_edit.span_of(text, (key,)) or (0, 0)
            first, last = (begin + byte_length(text[:at]) for at in (start + 1, stop - 1))
            return [Place((key,), first, last)]
    return []


def _is_event_line(source: Source, begin: int, end: int, recognition: Recognition) -> bool:
    """Return True for a single object that is a log of one event instead of a document."""
    return recognition.looks_like_message(source.text(begin, min(end, begin + SNIFF)), 0)


def _survey_lines(source: Source, begin: int, recognition: Recognition) -> Survey:
    """Find the chains of a JSON Lines file, which has one message or one whole chain on each line."""
    values = islice(outline_lines(source, begin, recognition), 4 * PROBE_LINES)
    first = [*islice((value for value in values if isinstance(value, Line)), PROBE_LINES)]
    chains = sum(1 for line in first if any(not place.single or len(place.pointer) > 1 for place in line.places))
    has_messages = any(place.single and len(place.pointer) == 1 for line in first for place in line.places)
    if not chains or (has_messages and chains * 2 <= len(first)):
        found = FoundList((), "", Span(0, source.size), 0, source.size, lines=True)
        start = len("\ufeff".encode()) if source.bom else 0
        found = replace(found, start=start)
        sample = take_sample(source, found, is_message=recognition.is_message)
        return Survey((replace(found, sample=sample),), lines=True)
    lists: list[FoundList] = []
    warnings: list[str] = []
    number = 0
    for line in outline_lines(source, begin, recognition):
        if not isinstance(line, Line):
            warnings.append(f"{line[1].rstrip('.')}; the line is kept as it is.")
            continue
        if line.number == number:
            place, column = source.place(line.region.start)
            warnings.append(f"Line {place}, column {column}: a second value is on the same line.")
        number = line.number
        if not line.places and (said := fault_in(source, line.region)):
            warnings.append(f"{said}; the line is kept as it is.")
        lists += _describe_line(source, line, recognition, SAMPLE_UNITS if len(lists) < MANY else 2)
    told = (*warnings[:MOST_TOLD], *([f"{len(warnings) - MOST_TOLD} more like these."] if len(warnings) > MOST_TOLD else []))
    return Survey(tuple(replace(found, warnings=told) for found in lists), lines=True)


def _describe_line(source: Source, line: Line, recognition: Recognition, units: int) -> list[FoundList]:
    chains = _chains(source, line.places, recognition, line.region, 1)
    found = []
    for item in chains:
        place = f"line {line.number}" + (f": {pointer_text(item.pointer[1:])}" if len(chains) > 1 else "")
        sample = take_sample(source, item, units)
        found.append(replace(item, title=_called(place, sample), sample=sample))
    return found
