"""Sections of an outline. They depend only on the kinds of rows: a section begins at the first row and at each header row after a
pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chainviz.store.content.pieces import Piece
from chainviz.store.outline.blocks import HashedRow, Replacement
from chainviz.store.outline.measures import NOTHING
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import COUNTED, LAST_HEADER, Row, SectionRow, count_tools, measure_rows

ADDED = 256
"""The number of rows that are measured at once."""


class SectionCutter:
    """Finds the sections in a stream of rows."""

    def __init__(self) -> None:
        self._measure = NOTHING
        """The sum over the rows of the open section that are not in `_unmeasured`."""
        self._unmeasured: list[Row] = []
        self._has_pairs = False
        self.first: Piece | None = None
        self.rows: list[Row] = []

    def feed(self, row: Row, first: Piece) -> SectionRow | None:
        """Return the section that ends before this row, if one does."""
        is_header = row.kind <= LAST_HEADER
        ended = self.end() if is_header and self._has_pairs else None
        if self.first is None:
            self.first = Piece(first.run, first.start, 1)
        self._has_pairs |= not is_header
        self._unmeasured.append(row)
        if len(self._unmeasured) >= ADDED:
            self._measure_rows()
        if len(self.rows) <= COUNTED:
            self.rows.append(row)
        return ended

    def end(self) -> SectionRow | None:
        self._measure_rows()
        section = SectionRow(self._measure, self.first, count_tools(self.rows)) if self.first is not None else None
        self._measure, self._has_pairs, self.first, self.rows = NOTHING, False, None, []
        return section

    def _measure_rows(self) -> None:
        self._measure += measure_rows(self._unmeasured)
        self._unmeasured = []


@dataclass(slots=True)
class _Group:
    """Old sections `first` to `last`, by number, and the rows replaced in them."""

    first: int
    last: int
    rows: list[Replacement[HashedRow]]


def section_replacements(
    old: OutlineReader, new: OutlineReader, replacements: Sequence[Replacement[HashedRow]]
) -> Iterator[Replacement[SectionRow]]:
    """Yield the replacements of sections that follow from replacements of rows. `new` already has the new rows."""
    shift = 0
    for group in _groups(old, replacements):
        bounds, shift = _bounds(old, group, shift)
        sections = [_section(new, low, high) for low, high in pairwise(bounds)]
        yield Replacement(group.first - 1, group.last, sections)


def _groups(old: OutlineReader, replacements: Sequence[Replacement[HashedRow]]) -> list[_Group]:
    groups: list[_Group] = []
    if not old.listing.total.rows:
        return [_Group(1, 0, list(replacements))] if replacements else []
    for one in replacements:
        first, last = old.section_of_row(one.start).number, old.section_of_row(one.stop - 1).number
        if groups and first <= groups[-1].last:
            groups[-1].last = max(groups[-1].last, last)
            groups[-1].rows.append(one)
        else:
            groups.append(_Group(first, last, [one]))
    return groups


def _bounds(old: OutlineReader, group: _Group, shift: int) -> tuple[list[int], int]:
    """Return the new row numbers at which the new sections of the group begin, followed by the end of the last one; and the number of
    rows by which everything after the group has moved. `shift` is the number for everything before the group."""
    places = list(old.sections(group.first, group.last + 1))
    old_starts = [place.before.rows for place in places]
    end = places[-1].before.rows + places[-1].measure.rows if places else 0
    starts: list[int] = []
    kept = 0
    for one in group.rows:
        starts += [row + shift for row in old_starts if kept <= row < one.start]
        before = old.row(one.start - 1).row.kind if one.start else None
        for i, item in enumerate(one.items):
            if before is None or (item.row.kind.is_header and not before.is_header):
                starts.append(one.start + shift + i)
            before = item.row.kind
        shift += len(one.items) - (one.stop - one.start)
        kept = one.stop
    starts += [row + shift for row in old_starts if row >= kept]
    return [*starts, end + shift], shift


def _section(new: OutlineReader, low: int, high: int) -> SectionRow:
    first = next(iter(new.row(low).pieces(1)))
    counted = new.rows(range(low, min(high, low + COUNTED + 1)))
    return SectionRow(new.measure_between(low, high), first, count_tools([place.row for place in counted.values()]))
