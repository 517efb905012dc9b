"""Compare two documents of any size line by line. Only positions of lines are stored, not their content."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainviz.core.diff.align import Equal, Gap, align

# JSON is formatted with one member on each line; other text keeps its lines. Tokens are copied without decoding, so numbers,
# escapes, the order of keys and repeated keys keep their spelling.


BLOCK = 1 << 18
"""The approximate number of bytes read at once."""
TEXT = -1
"""The depth of lines in a document that is not JSON."""
MOST_INDENTED = 40

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\],:]|[^\s{}\[\],:"]++', re.DOTALL)


class Mark(NamedTuple):
    """A position from which lines can be read: the number of lines and bytes before it."""

    line: int
    offset: int
    depth: int
    """The depth of nesting; TEXT in a document that is not JSON."""


class Block(NamedTuple):
    mark: Mark
    lines: list[bytes]


def blocks(chunks: Iterable[bytes], start: Mark | None = None) -> Iterator[Block]:
    """Yield the lines of a document in blocks. `start` is the position of the first chunk; None for the beginning."""
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
    """Collects lines until they are returned as a block."""

    def __init__(self, start: Mark) -> None:
        self.lines: list[bytes] = []
        self._begin = self._end = start
        self._place = start.offset
        """The number of bytes before the buffer."""

    def block(self) -> Block:
        found = Block(self._begin, self.lines)
        self._begin, self.lines = self._end, []
        return found

    def _ended(self, place: int, depth: int) -> None:
        """Set the position after the last line. `place` is its offset in the buffer."""
        self._end = Mark(self._begin.line + len(self.lines), self._place + place, depth)


class _Text(_Lines):
    def read(self, buffer: bytes, *, is_last: bool) -> int:
        """Read lines from the buffer. Return the number of bytes used."""
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
        """The line ends with an opening bracket, whose closing one may follow."""

    def read(self, buffer: bytes, *, is_last: bool) -> int:
        """Read tokens from the buffer. Return the number of bytes used, without a last token that may continue in the next buffer."""
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


Document = Callable[[], Iterable[bytes]]
"""Reads a document from its beginning, in chunks."""


class Place(NamedTuple):
    """A place in two documents: the number of lines before it in each."""

    old: int
    new: int


BEGINNING = Place(0, 0)


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    equal: tuple[Equal, ...]
    """Equal ranges of lines, in order."""
    old_lines: int
    new_lines: int
    is_coarse: bool
    """More lines may be equal than were found."""
    old_marks: tuple[Mark, ...]
    """Positions from which lines can be read, in order."""
    new_marks: tuple[Mark, ...]

    def steps(self, start: Place = BEGINNING) -> Iterator[Equal | Gap]:
        """Yield equal and changed ranges in order, from a place on."""
        old, new = start
        for stretch in (*self.equal, Equal(self.old_lines, self.new_lines, 0)):
            stop_old, stop_new = stretch.old + stretch.length, stretch.new + stretch.length
            if stop_old < old or stop_new < new:
                continue
            if stretch.old > old or stretch.new > new:
                yield Gap(old, max(old, stretch.old), new, max(new, stretch.new))
            begun = max(old - stretch.old, new - stretch.new, 0)
            if stretch.length > begun:
                yield Equal(stretch.old + begun, stretch.new + begun, stretch.length - begun)
            old, new = max(old, stop_old), max(new, stop_new)

    @property
    def gaps(self) -> list[Gap]:
        return [step for step in self.steps() if isinstance(step, Gap)]


def compare_documents(old: Document, new: Document) -> DocumentDiff:
    """Compare two documents by the hashes of their lines."""
    (old_keys, old_marks), (new_keys, new_marks) = _read(old), _read(new)
    found = align(old_keys, new_keys)
    return DocumentDiff(found.equal, len(old_keys), len(new_keys), found.coarse, old_marks, new_marks)


def _read(document: Document) -> tuple[list[int], tuple[Mark, ...]]:
    keys: list[int] = []
    marks = []
    for block in blocks(document()):
        marks.append(block.mark)
        keys += map(hash, block.lines)
    return keys, tuple(marks)


class LineReader:
    """Reads lines of a document. Ranges in rising order read the document once and skip the text between them."""

    def __init__(self, document: Document, marks: Sequence[Mark]) -> None:
        self._document = document
        self._marks = marks
        self._restart()

    def _restart(self) -> None:
        self._stream = _Stream(self._document())
        self._blocks: Iterator[Block] = iter(())
        self._block: Block | None = None

    def between(self, start: int, stop: int) -> list[str]:
        """Return lines `start:stop`; fewer at the end of the document."""
        found: list[bytes] = []
        while start < stop and self._go_to(start):
            assert self._block is not None
            first = self._block.mark.line
            found += self._block.lines[start - first : stop - first]
            start = first + len(self._block.lines)
        return [line.decode("utf-8", "replace") for line in found]

    def _go_to(self, line: int) -> bool:
        """Read the block that contains a line; return whether there is one."""
        place = bisect_right(self._marks, line, key=lambda each: each.line) - 1
        if place < 0:
            return False
        mark = self._marks[place]
        is_behind = self._block is None or line < self._block.mark.line
        if is_behind and mark.offset < self._stream.place:
            self._restart()
        if self._block is None or mark.offset >= self._stream.place:
            self._blocks = blocks(self._stream.read_from(mark.offset), mark)
            self._block = next(self._blocks, None)
        while self._block is not None and line >= self._block.mark.line + len(self._block.lines):
            self._block = next(self._blocks, None)
        return self._block is not None


class _Stream:
    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.place = 0
        """The number of bytes read."""

    def read_from(self, offset: int) -> Iterator[bytes]:
        for chunk in self._chunks:
            begin, self.place = self.place, self.place + len(chunk)
            if self.place > offset:
                yield chunk[max(0, offset - begin) :]
