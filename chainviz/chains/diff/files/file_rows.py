"""The lines of two files as rows of a comparison, from any place on: only the lines of the window are laid out."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.chains.diff.files.compare_files import compare_files, document_of
from chainviz.core.diff.align import Equal
from chainviz.core.diff.files.documents import LineReader, Place
from chainviz.core.diff.lines import DiffRow, TextDiff
from chainviz.core.diff.words import plain
from chainviz.store.models import Snapshot

AT_ONCE = 300
"""Lines of either side that are read together."""


class FileRows:
    def __init__(self, old: Snapshot, new: Snapshot) -> None:
        self.diff = compare_files(old, new)
        self.end = Place(self.diff.old_lines, self.diff.new_lines)
        self._old = LineReader(document_of(old), self.diff.old_marks)
        self._new = LineReader(document_of(new), self.diff.new_marks)

    def rows(self, start: Place, stop: Place) -> Iterator[DiffRow]:
        """Yields the rows between two places."""
        for step in self.diff.steps(start):
            if isinstance(step, Equal):
                here = Place(step.old, step.new)
                length = min(step.length, stop.old - here.old, stop.new - here.new)
                yield from self._same(here, length)
            else:
                here = Place(step.old_start, step.new_start)
                yield from self._changed(here, Place(min(step.old_stop, stop.old), min(step.new_stop, stop.new)))
            if here.old >= stop.old and here.new >= stop.new:
                return

    def _same(self, start: Place, length: int) -> Iterator[DiffRow]:
        for first in range(0, length, AT_ONCE):
            old, new = start.old + first + 1, start.new + first + 1
            for i, line in enumerate(self._new.between(new - 1, new - 1 + min(AT_ONCE, length - first))):
                spans = plain(line)
                yield DiffRow("same", old + i, new + i, spans, spans)

    def _changed(self, start: Place, stop: Place) -> Iterator[DiffRow]:
        old, new = start
        while old < stop.old or new < stop.new:
            befores = self._old.between(old, min(old + AT_ONCE, stop.old))
            afters = self._new.between(new, min(new + AT_ONCE, stop.new))
            for row in TextDiff("\n".join(befores), "\n".join(afters)).rows(context=None):
                assert isinstance(row, DiffRow), "nothing is folded"
                yield row._replace(old_no=row.old_no and old + row.old_no, new_no=row.new_no and new + row.new_no)
            if not befores and not afters:
                return
            old, new = old + len(befores), new + len(afters)


def after(rows: list[DiffRow], start: Place) -> Place:
    """The place behind some rows that begin at `start`."""
    return Place(
        max([start.old, *(row.old_no for row in rows if row.old_no)]),
        max([start.new, *(row.new_no for row in rows if row.new_no)]),
    )
