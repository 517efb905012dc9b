"""Lines and columns of a text by offset."""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_START = re.compile("^", re.MULTILINE)


class LineIndex:
    def __init__(self, text: str) -> None:
        self._starts = [found.start() for found in _LINE_START.finditer(text)]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
