"""Changes an outline where messages change, without looking at the rest.

A row depends on its own messages and on what the row before it is; a section begins where a header row follows a pair.
So it is enough to cut the touched rows anew with one row around them, and to add up the touched sections from block sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.store.content.pieces import join
from chainviz.store.outline.blocks import (
    Entry,
    Listing,
    LooseRow,
    PackedBlock,
    RowBlock,
    pack_rows,
    pack_sections,
)
from chainviz.store.outline.build import OPENING_ROWS
from chainviz.store.outline.cache import BlockKeeper
from chainviz.store.outline.call_ids import FirstUses
from chainviz.store.outline.charts import Charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.recut import Change, Recut
from chainviz.store.outline.replace import Replacement, replace_items
from chainviz.store.outline.resection import section_replacements
from chainviz.store.outline.rows import Kind, SectionRow


@dataclass(slots=True)
class Touched:
    """Rows `first:stop` that are cut anew, for these changes."""

    first: int
    stop: int
    changes: list[Change]


class OutlineEditor:
    """One edit of one outline. Changes come in order and do not overlap."""

    def __init__(self, old: OutlineReader, keeper: BlockKeeper, charts: Charts) -> None:
        self.old = old
        self.charts = charts
        self._keeper = keeper
        self._rows = old.listing.total.rows
        self._messages = old.listing.total.messages

    def edit(self, changes: Sequence[Change]) -> Listing:
        recuts = [Recut(self.old, one.first, one.stop, one.changes) for one in self._touched(changes)]
        first_uses: FirstUses | None = None
        if not all(recut.keeps_calls for recut in recuts):
            first_uses = FirstUses(self.old, changes)
            changes = [*changes, *self._elsewhere(first_uses, changes)]
            changes.sort(key=lambda change: change.start)
            recuts = [Recut(self.old, one.first, one.stop, one.changes) for one in self._touched(changes)]
        replacements = [Replacement(one.first, one.stop, one.rows(self.charts, first_uses)) for one in recuts]
        rows = replace_items(self.old.listing.rows, replacements, self.old.loose, self._pack_rows)
        new = OutlineReader(Listing(rows, ()), self.old.blocks)
        sections = list(section_replacements(self.old, new, replacements))
        entries = replace_items(self.old.listing.sections, sections, self._loosen_sections, self._pack_sections)
        return Listing(rows, entries)

    def _elsewhere(self, first_uses: FirstUses, changes: Sequence[Change]) -> Iterator[Change]:
        """Changes of nothing, at messages that nobody changed but that are judged differently now."""
        for index in first_uses.moved():
            if not any(change.start <= index < change.start + change.removed for change in changes):
                yield Change(index, 0, ())

    # which rows

    def _touched(self, changes: Sequence[Change]) -> Iterator[Touched]:
        open_one: Touched | None = None
        for change in changes:
            first, stop = self._range(change)
            if open_one is not None and first <= open_one.stop:
                open_one.stop = max(stop, open_one.stop)
                open_one.changes.append(change)
                continue
            if open_one is not None:
                yield open_one
            open_one = Touched(first, stop, [change])
        if open_one is not None:
            yield open_one

    def _range(self, change: Change) -> tuple[int, int]:
        """The rows of a change, with the one before (it may go on, or no longer be the last) and the one after."""
        end = change.start + change.removed
        first = self.old.row_of_message(change.start) if change.start < self._messages else self._rows
        stop = self.old.row_of_message(end) + 1 if end < self._messages else self._rows
        first = max(0, first - 1)
        if self._rows and first - 1 <= self.old.section(1).measure.headers < OPENING_ROWS:
            # what begins the chain is judged together, up to the first AI message; one pair without may come before it
            return 0, self._through_ai(stop)
        return first, stop

    def _through_ai(self, stop: int) -> int:
        for row in range(max(0, stop - 1), min(self._rows, stop + OPENING_ROWS)):
            kind = self.old.row(row).row.kind
            if not kind.is_header and kind is not Kind.NO_AI:
                return row + 1
        return max(stop, min(self._rows, stop + OPENING_ROWS))

    # how blocks are opened and closed

    def _pack_rows(self, loose: Sequence[LooseRow]) -> Entry:
        packed = pack_rows(loose)
        pieces = tuple(join(piece for row in loose for piece in row.pieces))
        self.old.blocks.rows[packed.entry.digest] = RowBlock(tuple(row.row for row in loose), pieces)
        self.old.blocks.hashes[packed.entry.digest] = list(packed.hashes)
        return self._keep(packed)

    def _loosen_sections(self, entry: Entry) -> list[SectionRow]:
        self.old.blocks.load_sections([entry.digest])
        return list(self.old.blocks.sections[entry.digest].sections)

    def _pack_sections(self, sections: Sequence[SectionRow]) -> Entry:
        return self._keep(pack_sections(sections))

    def _keep(self, packed: PackedBlock) -> Entry:
        self._keeper(packed)
        return packed.entry
