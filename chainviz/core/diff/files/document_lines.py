"""A document in lines, a block at a time: JSON with one member a line, whatever white space it had; other text as it is.

Tokens are copied, not decoded, so numbers, escapes, the order of keys and keys that occur twice stay as the document spells them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

BLOCK = 1 << 18
"""Bytes that are read together, about."""
TEXT = -1
"""The depth of what is not JSON."""
MOST_INDENTED = 40

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)


class Mark(NamedTuple):
    """A place from which lines can be read: so many lines and bytes precede it."""

    line: int
    offset: int
    depth: int
    """Of nesting; TEXT in a document that is not JSON."""


class Block(NamedTuple):
    mark: Mark
    lines: list[bytes]


def blocks(chunks: Iterable[bytes], start: Mark | None = None) -> Iterator[Block]:
    """Yields the lines of a document; `start`: the place where `chunks` begin, if that is not its beginning."""
    buffers = _buffers(chunks)
    first = next(buffers, b"")
    if start is None:
        start = Mark(0, 0, 0 if first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[") else TEXT)
    reader = _Text(start) if start.depth == TEXT else _Json(start)
    held, size, enough = [first], len(first), 0
    for buffer in buffers:
        if size >= enough:
            text = b"".join(held)
            held = [text[reader.read(text, is_last=False) :]]
            if reader.lines:
                yield reader.block()
            # a long string is read again when twice as much of it is there
            size, enough = len(held[0]), 2 * len(held[0])
        held.append(buffer)
        size += len(buffer)
    reader.read(b"".join(held), is_last=True)
    if reader.lines:
        yield reader.block()


def _buffers(chunks: Iterable[bytes]) -> Iterator[bytes]:
    held, size = [], 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size >= BLOCK:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


class _Lines:
    """Lines that were read and not yet given away, and where they begin."""

    def __init__(self, start: Mark) -> None:
        self.lines: list[bytes] = []
        self._begin = self._end = start
        self._place = start.offset
        """Bytes before the buffer."""

    def block(self) -> Block:
        found = Block(self._begin, self.lines)
        self._begin, self.lines = self._end, []
        return found

    def _ended(self, place: int, depth: int) -> None:
        """Behind the last line: `place` is that in the buffer."""
        self._end = Mark(self._begin.line + len(self.lines), self._place + place, depth)


class _Text(_Lines):
    def read(self, buffer: bytes, *, is_last: bool) -> int:
        """Returns how many bytes were used up."""
        end = len(buffer) if is_last else buffer.rfind(b"\n") + 1
        self.lines += buffer[:end].removesuffix(b"\n").split(b"\n") if end else []
        self._ended(end, TEXT)
        self._place += end
        return end


class _Json(_Lines):
    def __init__(self, start: Mark) -> None:
        super().__init__(start)
        self._depth = start.depth
        self._line: list[bytes] = []
        self._is_opened = False
        """The line ends with a bracket; its closing one may follow."""

    def read(self, buffer: bytes, *, is_last: bool) -> int:
        """Returns how many bytes were used up: a token that may go on in the next buffer is not."""
        end = len(buffer)
        for match in _TOKEN.finditer(buffer):
            token, stop = match[0], match.end()
            if stop == end and not is_last and token not in b"{}[],:":
                self._place += match.start()
                return match.start()
            self._take(token, match.start(), stop)
        if is_last and self._line:
            self._break(end)
        self._place += end
        return end

    def _take(self, token: bytes, start: int, stop: int) -> None:
        if token in b"}]":
            self._close(token, start)
            return
        if self._is_opened or (self._line and not self._depth and token not in b",:"):
            self._break(start)
            self._is_opened = False
        self._line.append(b": " if token == b":" else token)
        if token in b"{[":
            self._is_opened = True
        elif token == b",":
            self._break(stop)

    def _close(self, bracket: bytes, start: int) -> None:
        if not self._is_opened:
            if self._line:
                self._break(start)
            self._depth = max(0, self._depth - 1)
        self._is_opened = False
        self._line.append(bracket)

    def _break(self, place: int) -> None:
        self.lines.append(b"  " * min(self._depth, MOST_INDENTED) + b"".join(self._line))
        self._line.clear()
        self._depth += self._is_opened
        self._ended(place, self._depth)
