"""Compares two documents line by line, whole files of any size: kept are places of lines, no content."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from chainviz.core.diff.align import Equal, Gap, align
from chainviz.core.diff.files.document_lines import Block, Mark, blocks

Document = Callable[[], Iterable[bytes]]
"""Reads a document from its beginning, in chunks."""


class Place(NamedTuple):
    """So many lines of both documents precede it."""

    old: int
    new: int


BEGINNING = Place(0, 0)


@dataclass(frozen=True, slots=True)
class DocumentDiff:
    equal: tuple[Equal, ...]
    """Stretches of lines, in order."""
    old_lines: int
    new_lines: int
    is_coarse: bool
    """More lines may be equal than were found."""
    old_marks: tuple[Mark, ...]
    """Places from which lines can be read, in order."""
    new_marks: tuple[Mark, ...]

    def steps(self, start: Place = BEGINNING) -> Iterator[Equal | Gap]:
        """Yields equal stretches and changed ones in order, from a place on."""
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
    """Lines are compared by their hashes."""
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
    """Reads lines of a document. Windows that follow one another cost one reading; what lies between them is not laid out."""

    def __init__(self, document: Document, marks: Sequence[Mark]) -> None:
        self._document = document
        self._marks = marks
        self._restart()

    def _restart(self) -> None:
        self._stream = _Stream(self._document())
        self._blocks: Iterator[Block] = iter(())
        self._block: Block | None = None

    def between(self, start: int, stop: int) -> list[str]:
        """Returns lines `start:stop`, as far as there are such lines."""
        found: list[bytes] = []
        while start < stop and self._go_to(start):
            assert self._block is not None
            first = self._block.mark.line
            found += self._block.lines[start - first : stop - first]
            start = first + len(self._block.lines)
        return [line.decode("utf-8", "replace") for line in found]

    def _go_to(self, line: int) -> bool:
        """Reads the block that holds a line; returns whether there is one."""
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
        """Bytes that were taken."""

    def read_from(self, offset: int) -> Iterator[bytes]:
        for chunk in self._chunks:
            begin, self.place = self.place, self.place + len(chunk)
            if self.place > offset:
                yield chunk[max(0, offset - begin) :]
