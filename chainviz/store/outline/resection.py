"""The sections that change when rows change: where they begin now, and their sums from the new rows' blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chainviz.store.outline.blocks import LooseRow
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.replace import Replacement
from chainviz.store.outline.rows import SectionRow

Rows = Replacement[LooseRow]


@dataclass(slots=True)
class _Group:
    """Old sections `first..last` by number, and what is replaced in them."""

    first: int
    last: int
    rows: list[Rows]


def section_replacements(
    old: OutlineReader, new: OutlineReader, replacements: Sequence[Rows]
) -> Iterator[Replacement[SectionRow]]:
    shift = 0
    for group in _groups(old, replacements):
        bounds, shift = _bounds(old, group, shift)
        sections = [_section(new, low, high) for low, high in pairwise(bounds)]
        yield Replacement(group.first - 1, group.last, sections)


def _groups(old: OutlineReader, replacements: Sequence[Rows]) -> list[_Group]:
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
    """The rows, in the new numbering, at which the group's sections now begin, then where the last one ends; and how far
    rows behind the group have moved."""
    places = list(old.sections(group.first, group.last + 1))
    old_starts = [place.before.rows for place in places]
    end = places[-1].before.rows + places[-1].measure.rows if places else 0
    starts: list[int] = []
    kept = 0
    for one in group.rows:
        starts += [row + shift for row in old_starts if kept <= row < one.start]
        before = old.row(one.start - 1).row.kind if one.start else None
        for i, loose in enumerate(one.items):
            if before is None or (loose.row.kind.is_header and not before.is_header):
                starts.append(one.start + shift + i)
            before = loose.row.kind
        shift += len(one.items) - (one.stop - one.start)
        kept = one.stop
    starts += [row + shift for row in old_starts if row >= kept]
    return [*starts, end + shift], shift


def _section(new: OutlineReader, low: int, high: int) -> SectionRow:
    first = next(iter(new.row(low).pieces(1)))
    return SectionRow(new.measure_between(low, high), first)
