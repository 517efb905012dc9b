"""JSON Lines: the values of a file's lines with their message lists, broken lines among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from chainviz.core.documents.detection.find_lists import Outline, Place
from chainviz.core.documents.detection.recognition import SNIFF, Recognition
from chainviz.core.documents.json.scan import Window, fault, skip_space
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Span
from chainviz.core.errors import DocumentError

PROBE_LINES = 8
"""Lines that are looked at to see what the others are like."""
MAX_BROKEN = 1_000


@dataclass(slots=True)
class Line:
    """One value of a JSON Lines file."""

    index: int
    """Its place among the values."""
    number: int
    """The line it begins on, from 1."""
    region: Span
    places: list[Place]


def outline_lines(source: Source, start: int, recognition: Recognition) -> Iterator[Line | tuple[int, str]]:
    """The values of a JSON Lines file with their message lists; a broken line comes as (offset, sentence)."""
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
                yield Line(index, number, Span(offset, window.offset(position)), walk.places)
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
    """Returns what is wrong with the line alone: an open string or object would run on into the lines behind it."""
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
    """Whether lines after the first are JSON objects of their own."""
    lines = source.read(begin, begin + (1 << 20)).split(b"\n")[1:PROBE_LINES]
    return any(line.startswith(b"{") and len(line) > 2 and is_json(line) for line in lines)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError):
        return False
    return True
