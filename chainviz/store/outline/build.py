"""Builds an outline from messages in order, keeping no more of them in memory than one block needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, CallRef, Message, Shape
from chainviz.store.content.pieces import Piece, join
from chainviz.store.outline import blocks
from chainviz.store.outline.blocks import Entry, Listing, LooseRow, PackedBlock, pack_rows, pack_sections
from chainviz.store.outline.charts import Charts
from chainviz.store.outline.hashes import sequence_hash
from chainviz.store.outline.measures import NOTHING, Measure
from chainviz.store.outline.problem_rules import Surroundings, judge
from chainviz.store.outline.rows import Row, SectionRow, Stretch

OPENING_ROWS = 4096
"""The rows up to the first AI message are judged together; a longer beginning than this is not."""
HELD_BYTES = 8 << 20
"""A block ends early when its messages are big."""


class Placed(NamedTuple):
    """A message and where it lies in the store."""

    message: Message
    piece: Piece
    digest: bytes


class SectionCutter:
    """Finds sections in a stream of rows: one begins at the first row and at each header row after a pair."""

    def __init__(self) -> None:
        self.measure: Measure = NOTHING
        self.first: Piece | None = None

    def feed(self, row: Row, first: Piece) -> SectionRow | None:
        """The section that ended before this row, if one did."""
        ended = self.end() if row.kind.is_header and self.measure.pairs else None
        if self.first is None:
            self.first = Piece(first.run, first.start, 1)
        self.measure = self.measure + row.measure
        return ended

    def end(self) -> SectionRow | None:
        section = SectionRow(self.measure, self.first) if self.first is not None else None
        self.measure, self.first = NOTHING, None
        return section


class OutlineBuilder:
    def __init__(self, keep: Callable[[PackedBlock], None]) -> None:
        self._keep = keep
        self._block = blocks.BLOCK
        self._open: list[Placed] = []
        """The messages of the row that is being read."""
        self._rows: list[list[Placed]] = []
        self._held = 0
        self._before: Stretch[Any] | None = None
        self._seen_ai = False
        self._ids: set[str] = set()
        self._cutter = SectionCutter()
        self._sections: list[SectionRow] = []
        self._row_entries: list[Entry] = []
        self._section_entries: list[Entry] = []
        self.charts = Charts()

    def add(self, placed: Placed) -> None:
        role = placed.message.role
        is_header = role in (SYSTEM, HUMAN)
        if self._open and (is_header or role == AI or self._open[0].message.role in (SYSTEM, HUMAN)):
            self._close_row(placed.message)
        self._open.append(placed)
        self._held += placed.message.size

    def finish(self) -> Listing:
        if self._open:
            self._rows.append(self._open)
            self._open = []
        self._close_block(None)
        self._add_section(self._cutter.end())
        self._close_sections()
        return Listing(tuple(self._row_entries), tuple(self._section_entries))

    def _close_row(self, after: Shape) -> None:
        # a row is known to be whole when the next begins, so a block that ends here is always followed
        self._rows.append(self._open)
        self._seen_ai = self._seen_ai or self._open[0].message.role == AI
        self._open = []
        if not self._seen_ai and len(self._rows) < OPENING_ROWS and not self._row_entries:
            return
        if len(self._rows) >= self._block or self._held >= HELD_BYTES:
            self._close_block(after)

    def _close_block(self, after: Shape | None) -> None:
        if not self._rows:
            return
        stretches = [Stretch(tuple([placed.message for placed in row])) for row in self._rows]
        rows = judge(stretches, Surroundings(self._before, after), self._is_repeated)
        loose = []
        for row, stretch, placed in zip(rows, stretches, self._rows, strict=True):
            self.charts.add(stretch.messages)
            value = sequence_hash([one.digest for one in placed])
            loose.append(LooseRow(row, tuple(join([one.piece for one in placed])), value))
            self._add_section(self._cutter.feed(row, placed[0].piece))
        self._row_entries.append(self._pack(pack_rows(loose)))
        self._before = stretches[-1]
        self._rows, self._held = [], 0

    def _is_repeated(self, row: int, call: CallRef) -> bool:
        if call.id in self._ids:
            return True
        self._ids.add(call.id)
        return False

    def _add_section(self, section: SectionRow | None) -> None:
        if section is not None:
            self._sections.append(section)
            if len(self._sections) >= self._block:
                self._close_sections()

    def _close_sections(self) -> None:
        if self._sections:
            self._section_entries.append(self._pack(pack_sections(self._sections)))
            self._sections = []

    def _pack(self, block: PackedBlock) -> Entry:
        self._keep(block)
        return block.entry
