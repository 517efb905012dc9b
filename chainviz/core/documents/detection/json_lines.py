"""Find the message lists of JSON Lines, and handle files that are broken, truncated or not transcripts: salvage what can be read, or
raise an error that says what to do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from chainviz.core.documents.detection.find_lists import Frame, Outline, Place, Step
from chainviz.core.documents.detection.recognition import SNIFF, Recognition, peek, take_sample
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import ENDS_INSIDE, NESTED, TOO_DEEP, Window, byte_length, fault, in_words, skip_space
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import UnitReader
from chainviz.core.documents.units import FoundList, Pointer, Span, TextMember
from chainviz.core.errors import DocumentError, FaultPlace

LARGEST = 1 << 20
"""The largest document, in bytes, that is searched. Larger ones have lists."""
REQUESTS = frozenset(("request", "body", "request_body", "samples"))
"""Members with a request, or with a list of documents."""


def text_places(source: Source, document: Span, places: Sequence[Place], members: Sequence[TextMember], base: Pointer = ()) -> list[Place]:
    """Return the places of plain strings that are messages, each a member `KEY as text` of its object."""
    if document.end - document.start > LARGEST:
        return []
    text = source.text(document.start, document.end)
    wanted = [each for each in members if re.search(rf'"{each.key}"\s*:\s*"', text) and any(f'"{key}"' in text for key in each.beside)]
    frames = {step.holder.start: step.holder for place in places for step in place.steps}

    def frame_at(pointer: Pointer) -> Frame:
        start, end = (document.start + byte_length(text[:at]) for at in json_edit.span_of(text, pointer) or (0, 0))
        return frames.setdefault(start, Frame(True, start, end))

    found = []
    for pointer, member in _texts(_parsed(text) if wanted else None, wanted):
        start, end = (document.start + byte_length(text[:at]) for at in json_edit.span_of(text, pointer) or (0, 0))
        keys = [place for place, step in enumerate(pointer) if isinstance(step, str)]
        names = [str(pointer[place]) for place in keys[:-1]] + [member.name]
        steps = (Step(name, frame_at(pointer[:place]), len(base) + place) for name, place in zip(names, keys, strict=True))
        found.append(Place((*base, *pointer), start, end, tuple(steps), single=True, is_text=True))
    return found


def _texts(value: Any, wanted: Sequence[TextMember], pointer: Pointer = ()) -> Iterator[tuple[Pointer, TextMember]]:
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, wanted, (*pointer, number))
    if not isinstance(value, dict):
        return
    for member in wanted:
        if isinstance(value.get(member.key), str) and any(key in value for key in member.beside):
            yield (*pointer, member.key), member
    for key in REQUESTS & value.keys():
        yield from _texts(value[key], wanted, (*pointer, key))


def _parsed(text: str) -> Any:
    try:
        return json_edit.parse(text)
    except (ValueError, RecursionError):
        return None


PROBE_LINES = 8
"""The number of lines by which the kind of a file is judged."""
MAX_BROKEN = 1_000


@dataclass(slots=True)
class Line:
    """One value of a JSON Lines file."""

    index: int
    """Index among the values."""
    number: int
    """The number of its first line, from 1."""
    region: Span
    places: list[Place]


def outline_lines(source: Source, start: int, recognition: Recognition) -> Iterator[Line | tuple[int, str]]:
    """Yield the values of a JSON Lines file with their message lists, and each broken line as (offset, sentence)."""
    index, offset, number, counted, broken = 0, start, 1, start, 0
    while True:
        window = Window(source, offset, source.size)
        position = 0
        try:
            while True:
                position = skip_space(window, position)
                if position >= len(window.text):
                    return
                offset = window.offset(position)
                number += source.read(counted, offset).count(b"\n")
                counted = offset
                if window.text[position] not in "[{":
                    fault(source, offset, "a line does not begin with an object")
                walk = Outline(window, recognition, (index,))
                position = walk.walk(position)
                region = Span(offset, window.offset(position))
                texts = text_places(source, region, walk.places, recognition.texts, (index,))
                yield Line(index, number, region, [*walk.places, *texts])
                index += 1
        except DocumentError as error:
            broken += 1
            if broken > MAX_BROKEN:
                raise DocumentError(f"More than {MAX_BROKEN} lines are broken, the last one: {error}", raw=True) from None
            end = _next_line(source, offset)
            yield offset, _fault_in_line(source, Span(offset, end), recognition) or str(error)
            index += 1
            offset = end


def _fault_in_line(source: Source, line: Span, recognition: Recognition) -> str:
    """Describe the fault of one line on its own, because an open string or object would continue into the next lines."""
    is_ended = source.read(line.end - 1, line.end) == b"\n"
    try:
        Outline(Window(source, line.start, line.end - is_ended), recognition, ()).walk(0)
    except DocumentError as error:
        what = error.fault.what.replace("the file ends", "the line ends", 1)
        return f"Line {error.fault.line}, column {error.fault.column}: {what}." if what else str(error)
    return ""


def _next_line(source: Source, offset: int) -> int:
    while offset < source.size:
        chunk = source.read(offset, offset + SNIFF)
        found = chunk.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(chunk)
    return source.size


def has_lines(source: Source, begin: int) -> bool:
    """Return True if the lines after the first are also JSON objects."""
    lines = source.read(begin, begin + (1 << 20)).split(b"\n")[1:PROBE_LINES]
    return any(line.startswith(b"{") and len(line) > 2 and is_json(line) for line in lines)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError):
        return False
    return True


CHECKED = 1 << 23
"""The largest document without message lists, in bytes, that is parsed to describe its fault."""
_EMPTY = re.compile(rb'\s*(?:\[\s*\]|\{.*"(?:messages|contents|conversations|traj|input|history)"\s*:\s*\[\s*\].*\})\s*', re.DOTALL)


def refuse_strangers(source: Source, begin: int) -> None:
    head = source.read(begin, begin + 512)
    if not head:
        raise DocumentError("The file is empty.")
    line, column = source.place(begin)
    place, where = FaultPlace(line, column, begin), f"Line {line}, column {column}"
    if head[:1] in b"{[":
        return
    if head[:1] == b"<":
        raise DocumentError(
            f"{where}: this is HTML or XML, not JSON; export the transcript as JSON, or keep it as raw text.", place, raw=True
        )
    if b"\0" in head:
        raise DocumentError(f"{where}: this is binary, not text; upload the transcript as JSON.", place)
    if has_lines(source, begin):
        return
    if source.size < CHECKED and is_json(source.read(begin, source.size)):
        raise DocumentError(f"{where}: the file is JSON, but only a single value; a list of messages is needed.", place, raw=True)
    raise DocumentError(
        f"{where}: this is not JSON: it begins with “{head[:20].decode('utf-8', 'replace').split(chr(10))[0]}” where "
        "a “{” or “[” is expected; upload JSON or JSON Lines, or keep it as raw text.",
        place,
        raw=True,
    )


def refuse_broken(source: Source, begin: int) -> None:
    """Raise DocumentError with the exact fault of a broken document, unless it is very large."""
    text = source.text(begin, begin + CHECKED)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if begin + CHECKED >= source.size or error.pos < len(text) - 64:
            what = in_words(error.msg) if text[error.pos :].strip() else ENDS_INSIDE
            fault(source, begin + byte_length(text[: error.pos]), what)
    except (ValueError, RecursionError):
        pass


def refuse_without_messages(source: Source, begin: int) -> NoReturn:
    refuse_broken(source, begin)
    if source.size < CHECKED and _EMPTY.fullmatch(source.read(begin, source.size)):
        raise DocumentError("The list of messages is empty.", raw=True)
    head = peek(source.text(begin, begin + (1 << 16)))
    keys = ", ".join(f"“{key[:30]}”" for key in list(head)[:6]) if isinstance(head, dict) else ""
    raise DocumentError(
        "The file is JSON, but contains no list of messages"
        + (f" (its keys are {keys})" if keys else "")
        + "; upload a transcript, choose its format, or keep it as raw text.",
        raw=True,
    )


_LIST_OF_OBJECTS = re.compile(r"\[\s*(?=\{)")


def open_list(source: Source, begin: int, error: DocumentError, recognition: Recognition, *, salvage: bool) -> FoundList:
    """Return the message list in which `error` occurred, for salvage. Raises DocumentError if it cannot be salvaged, or `salvage` is
    off."""
    if error.fault.what in ("", TOO_DEEP):
        raise error
    found = _first_list(source, begin, recognition)
    if found is None:
        refuse_broken(source, begin)
        raise error
    if salvage:
        return replace(found, warnings=(str(error),))
    whole = sum(1 for _ in UnitReader(source, found, salvage=True))
    try:
        for _ in UnitReader(source, found, shell=False):
            pass
    except DocumentError as exact:
        error = exact
    if error.salvage != whole:
        fault(source, error.fault.offset, error.fault.what, whole)
    raise error


def _first_list(source: Source, begin: int, recognition: Recognition) -> FoundList | None:
    """Return the first list whose first object looks like a message; None if there is none."""
    head = source.text(begin, begin + CHECKED)
    for opening in _LIST_OF_OBJECTS.finditer(head):
        at, inner = opening.span()
        whole = NESTED.match(head, inner)
        end = min(whole.end() if whole else len(head), inner + SNIFF)
        if recognition.has_hint(head, inner, end) and recognition.looks_like_message(head[:end], inner):
            start = begin + byte_length(head[: at + 1])
            key = head[:at].rstrip().removesuffix(":").rstrip().rpartition('"')[0].rpartition('"')[2]
            pointer: Pointer = (key,) if at and key else ()
            found = FoundList(pointer, "", Span(0, source.size), start, source.size, pointer)
            return replace(found, sample=take_sample(source, found))
    return None
