"""A stretch of a long text: the first 400 lines or 20 kB, then bigger steps. Says what it leaves out."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_LINES, FIRST_BYTES = 400, 20_000
STEP_LINES, STEP_BYTES = 4_000, 200_000


@dataclass(frozen=True, slots=True)
class Stretch:
    text: str
    start: int
    end: int
    """Places in the whole text, in characters."""
    left: int
    """Characters after the end."""
    lines_left: int


def stretch(text: str, start: int = 0) -> Stretch:
    """What is shown from `start`, cut at a line end where one is near."""
    start = max(0, min(start, len(text)))
    lines, size = (STEP_LINES, STEP_BYTES) if start else (FIRST_LINES, FIRST_BYTES)
    end = _line_limit(text, start, lines, _byte_limit(text, start, size))
    left = len(text) - end
    return Stretch(text[start:end], start, end, left, _count_lines(text, end))


def _count_lines(text: str, start: int) -> int:
    return 0 if start == len(text) else text.count("\n", start) + (not text.endswith("\n"))


def _byte_limit(text: str, start: int, size: int) -> int:
    part = text[start : start + size]
    if not part.isascii():
        coded = part.encode("utf-8", "surrogatepass")
        cut = min(size, len(coded))
        while cut < len(coded) and coded[cut] & 0xC0 == 0x80:  # not inside a character
            cut -= 1
        part = coded[:cut].decode("utf-8", "surrogatepass")
    end = start + len(part)
    if end == len(text):
        return end
    line_end = text.rfind("\n", start + len(part) // 2, end)
    return end if line_end < 0 else line_end + 1


def _line_limit(text: str, start: int, lines: int, end: int) -> int:
    place = start
    for _ in range(lines):
        found = text.find("\n", place, end)
        if found < 0:
            return end
        place = found + 1
    return place
