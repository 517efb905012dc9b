"""A stretch of a long text: the first 400 lines or 20 kB, then bigger steps. Says what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.documents.json.long_values import breaks_in, length_of, part_of

FIRST_LINES, FIRST_BYTES = 400, 20_000
STEP_LINES, STEP_BYTES = 4_000, 200_000


@dataclass(frozen=True, slots=True)
class Stretch:
    text: str
    start: int
    end: int
    """The start and the end in the whole text, in characters."""
    left: int
    """The number of characters after the end."""
    lines_left: int


def stretch(text: str, start: int = 0, until: int | None = None) -> Stretch:
    """Return the part of a text to show from `start`, cut at a line end if one is near. `until`: the assumed end of the
    text."""
    whole = length_of(text)
    stop = whole if until is None else min(until, whole)
    start = max(0, min(start, stop))
    lines, size = (STEP_LINES, STEP_BYTES) if start else (FIRST_LINES, FIRST_BYTES)
    ahead = part_of(text, start, min(start + size, stop))
    shown = _first_lines(_first_bytes(ahead, size, is_all=start + len(ahead) == stop), lines)
    end = start + len(shown)
    return Stretch(shown, start, end, stop - end, _count_lines(text, end, stop))


def _count_lines(text: str, start: int, stop: int) -> int:
    return 0 if start == stop else breaks_in(text, start, stop) + (part_of(text, stop - 1, stop) != "\n")


def _first_bytes(ahead: str, size: int, is_all: bool) -> str:
    part = ahead
    if not part.isascii():
        coded = part.encode("utf-8", "surrogatepass")
        cut = min(size, len(coded))
        while cut < len(coded) and coded[cut] & 0xC0 == 0x80:  # not inside a character
            cut -= 1
        part = coded[:cut].decode("utf-8", "surrogatepass")
    if is_all and len(part) == len(ahead):
        return part
    line_end = part.rfind("\n", len(part) // 2)
    return part if line_end < 0 else part[: line_end + 1]


def _first_lines(text: str, lines: int) -> str:
    place = 0
    for _ in range(lines):
        found = text.find("\n", place)
        if found < 0:
            return text
        place = found + 1
    return text[:place]
