"""A file of JSON Lines that a process still writes: where its last complete line ends."""

from __future__ import annotations

import json

from chainviz.core.documents.units import Read

STEP = 1 << 16
LONGEST = 1 << 26
"""Bytes of a line that is read to see whether it is complete."""


def end_of_lines(read: Read, size: int) -> int:
    """Where the last complete line ends; the size of the file where that line is complete, or where these are no lines."""
    end = _last_break(read, size)
    last = read(end, size)
    if not last.strip() or _is_json(last):
        return size
    return end if _is_json(_first_line(read, size)) else size


def _last_break(read: Read, size: int) -> int:
    """Behind the last line break; 0 where there is none."""
    for end in range(size, max(0, size - LONGEST), -STEP):
        found = read(max(0, end - STEP), end).rfind(b"\n")
        if found >= 0:
            return max(0, end - STEP) + found + 1
    return 0


def _first_line(read: Read, size: int) -> bytes:
    end = STEP
    while end < 2 * min(size, LONGEST):
        line, found, _ = read(0, min(end, size)).partition(b"\n")
        if found:
            return line
        end *= 2
    return b""


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
