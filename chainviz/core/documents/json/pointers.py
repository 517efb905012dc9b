"""Where in a JSON document a place lies."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[{}\[\],:]', re.DOTALL)
APART = 1 << 16
"""Characters between two places from which it can be read on."""

_Step = str | int


class Pointers:
    """JSON pointers of places in one text, which is read once; of a broken document as far as it can be told."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: list[tuple[int, tuple[_Step, ...], str]] = [(0, (), "")]
        """Place, steps to it, and the string that was last."""
        for place, stack, last in self._states(*self._known[0], len(text)):
            if place - self._known[-1][0] >= APART:
                self._known.append((place, tuple(stack), last))

    def at(self, place: int) -> str:
        """Of the value there."""
        known = self._known[bisect_right(self._known, place, key=lambda each: each[0]) - 1]
        newest = deque(self._states(*known, place), maxlen=1)
        return "".join(f"/{step}" for step in (newest[0] if newest else known)[1])

    def _states(
        self, start: int, steps: Sequence[_Step], last: str, stop: int
    ) -> Iterator[tuple[int, list[_Step], str]]:
        """After each token, in one list."""
        stack = [*steps]
        for found in _TOKEN.finditer(self._text, start, stop):
            token = found[0]
            if token[0] == '"':
                if not found[1]:
                    return
                last = token[1:-1].replace("~", "~0").replace("/", "~1")
            elif token == "{":
                stack.append("")
            elif token == "[":
                stack.append(0)
            elif stack and token in "}]":
                stack.pop()
            elif stack and token == ",":
                stack[-1] = stack[-1] + 1 if isinstance(stack[-1], int) else ""
            elif stack and isinstance(stack[-1], str):
                stack[-1] = last
            yield found.end(), stack, last
