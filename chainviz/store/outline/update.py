"""Update an outline for changed messages, without reading the other messages.

A row depends on its own messages and on the row before it. Therefore the changed rows are rebuilt together with one row on each side, and
the changed sections are added up from the sums of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from chainviz.core.chain.messages import CallRef, Shape
from chainviz.core.providers.request import Request
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.content.pieces import Piece, PlacedMessage, PlacedSplice, join
from chainviz.store.outline.blocks import (
    Entry,
    HashedRow,
    Listing,
    PackedBlock,
    Replacement,
    RowBlock,
    SectionBlock,
    pack_rows,
    pack_sections,
    replace_items,
    sequence_hash,
)
from chainviz.store.outline.build import OPENING_ROWS
from chainviz.store.outline.cache import BlockWriter
from chainviz.store.outline.measures import Charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import Kind, RowMessages, SectionRow, cut_rows
from chainviz.store.outline.rules.late_results import LateIds, late_after, messages_with
from chainviz.store.outline.rules.problem_rules import FirstUses, IdUse, Neighbours, check_rows, knows_repeats, repeats_id, uses_in
from chainviz.store.outline.sections import section_replacements


class OutlineEditor:
    """One edit of one outline. Changes are in order and do not overlap."""

    def __init__(self, chain: StoredChain, writer: BlockWriter, charts: Charts, format: str = "") -> None:
        """`format` is the format of the chain after the edit; "" if it does not change."""
        self._chain = chain
        self.old = old = chain.outline
        old.blocks.with_hashes = True
        self._format = format
        self.charts = charts
        self._writer = writer
        self._rows = old.listing.total.rows
        self._messages = old.listing.total.messages

    def edit(self, changes: Sequence[PlacedSplice]) -> Listing:
        touched = self._touched(changes)
        first_uses: FirstUses | None = None
        if not all(rows.keep_calls for rows in touched):
            first_uses = FirstUses(self._pieces, changes)
            changes = [*changes, *self._unchanged(first_uses.moved(), changes)]
            changes.sort(key=lambda change: change.start)
            touched = self._touched(changes)
        late = self._late(touched, changes)
        if late != self.old.listing.late:
            changes = [*changes, *self._unchanged(messages_with(self._pieces, late.changed(self.old.listing.late)), changes)]
            changes.sort(key=lambda change: change.start)
            touched = self._touched(changes)
        replacements = [
            Replacement(rows.first, rows.stop, rows.new(self.charts, first_uses, (self._format, late, self.old.listing.request)))
            for rows in touched
        ]
        rows = replace_items(self.old.listing.rows, replacements, self.old.hashed_rows, self._pack_rows)
        new = OutlineReader(Listing(rows, ()), self.old.blocks)
        sections = list(section_replacements(self.old, new, replacements))
        entries = replace_items(self.old.listing.sections, sections, self._unpack_sections, self._pack_sections)
        return Listing(rows, entries, late, self.old.listing.request)

    @cached_property
    def _pieces(self) -> list[Piece]:
        return self.old.pieces(0, self._messages)

    def _late(self, touched: Sequence[_TouchedRows], changes: Sequence[PlacedSplice]) -> LateIds:
        """Return the late results after the edit. A chain has none if all its rows are valid."""
        late = self.old.listing.late
        invalid = self.old.listing.total.invalid or any(rows.has_invalid for rows in touched)
        if not invalid or all(rows.keep_pairs for rows in touched):
            return late
        return late_after(self._pieces, changes)

    def _unchanged(self, messages: Iterable[int], changes: Sequence[PlacedSplice]) -> Iterator[PlacedSplice]:
        """Yield empty changes at unchanged messages whose problems may have changed."""
        for index in messages:
            if not any(change.start <= index < change.start + change.removed for change in changes):
                yield PlacedSplice(index, 0, ())

    def _touched(self, changes: Sequence[PlacedSplice]) -> list[_TouchedRows]:
        found: list[_TouchedRows] = []
        for change in changes:
            first, stop = self._range(change)
            if found and first <= found[-1].stop:
                found[-1].stop = max(stop, found[-1].stop)
                found[-1].changes.append(change)
            else:
                found.append(_TouchedRows(self._chain, first, stop, [change]))
        return found

    def _range(self, change: PlacedSplice) -> tuple[int, int]:
        """Return the rows of a change, with the row before, which may grow or become the last one, and the row after."""
        end = change.start + change.removed
        first = self.old.row_of_message(change.start) if change.start < self._messages else self._rows
        stop = self.old.row_of_message(end) + 1 if end < self._messages else self._rows
        first = max(0, first - 1)
        if self._rows and first - 1 <= self.old.section(1).measure.headers < OPENING_ROWS:
            # the rows up to the first AI message are checked together; one pair without AI message may come before it
            return 0, self._through_ai(stop)
        return first, stop

    def _through_ai(self, stop: int) -> int:
        # the row before `stop` may lose its AI message
        for row in range(stop, min(self._rows, stop + OPENING_ROWS)):
            kind = self.old.row(row).row.kind
            if not kind.is_header and kind is not Kind.NO_AI:
                return row + 1
        return max(stop, min(self._rows, stop + OPENING_ROWS))

    def _pack_rows(self, rows: Sequence[HashedRow]) -> Entry:
        packed = pack_rows(rows)
        pieces = tuple(join(piece for row in rows for piece in row.pieces))
        self.old.blocks.rows[packed.entry.digest] = RowBlock([row.row for row in rows], pieces, [row.row.messages for row in rows])
        self.old.blocks.hashes[packed.entry.digest] = list(packed.hashes)
        return self._write(packed)

    def _unpack_sections(self, entry: Entry) -> list[SectionRow]:
        self.old.blocks.load_sections([entry.digest])
        return list(self.old.blocks.sections[entry.digest].sections)

    def _pack_sections(self, sections: Sequence[SectionRow]) -> Entry:
        packed = pack_sections(sections)
        self.old.blocks.sections[packed.entry.digest] = SectionBlock(tuple(sections))
        return self._write(packed)

    def _write(self, packed: PackedBlock) -> Entry:
        self._writer(packed)
        return packed.entry


class _TouchedRows:
    """Rows `first:stop` of the old outline, and the rows that replace them."""

    def __init__(self, chain: StoredChain, first: int, stop: int, changes: list[PlacedSplice]) -> None:
        self.first = first
        self.stop = stop
        self._chain = chain
        self._outline = chain.outline
        self.changes = changes

    @cached_property
    def _start(self) -> int:
        """The index of the first message."""
        total = self._outline.listing.total.messages
        return self._outline.row(self.first).start if self.first < self.stop else total

    @cached_property
    def _old(self) -> list[StoredMessage]:
        if self.first == self.stop:
            return []
        last = self._outline.row(self.stop - 1)
        return list(self._chain.rows_in(self._outline.pieces(self._start, last.start + last.row.messages)))

    @cached_property
    def _new(self) -> list[StoredMessage | PlacedMessage]:
        new: list[StoredMessage | PlacedMessage] = []
        place = 0
        for change in self.changes:
            start = change.start - self._start
            new += self._old[place:start]
            new += change.placed
            place = start + change.removed
        return [*new, *self._old[place:]]

    @cached_property
    def old_uses(self) -> list[IdUse]:
        return [use for row in self._old for use in uses_in(row.piece, row.shape.calls)]

    @cached_property
    def new_uses(self) -> list[IdUse]:
        return [use for one in self._new for use in uses_in(one.piece, _shape(one).calls)]

    @property
    def keep_calls(self) -> bool:
        """Whether the new rows make the same calls in the same order, so that the old rows tell which calls repeat an id."""
        if [use.id for use in self.old_uses] != [use.id for use in self.new_uses]:
            return False
        return all(knows_repeats(self._outline.row(number).row) for number in range(self.first, self.stop))

    @property
    def keep_pairs(self) -> bool:
        """Whether the new rows have the same calls and results."""
        return self._pairs(row.shape for row in self._old) == self._pairs(map(_shape, self._new))

    @property
    def has_invalid(self) -> bool:
        """Whether a new row is an invalid pair."""
        return any(not row.is_header and not row.pair.is_valid for row in cut_rows(map(_shape, self._new)))

    def _pairs(self, messages: Iterable[Shape]) -> list[list[tuple[bool, str]]]:
        """Return the calls and results of each row that has any, as (is a result, id). A header has an empty list, because it ends a run of
        AI messages."""
        rows = (
            (row.is_header, [(kind, ref.id) for one in row.messages for kind, refs in _refs(one) for ref in refs])
            for row in cut_rows(messages)
        )
        return [refs for is_header, refs in rows if refs or is_header]

    def new(self, charts: Charts, first_uses: FirstUses | None, around: tuple[str, LateIds, Request]) -> list[HashedRow]:
        """Return the new rows. `around` is the format of the chain, its late results, and the recorded fields beside its messages."""
        for old in cut_rows(row.shape for row in self._old):
            charts.add(old.messages, -1)
        new = self._new_placed()
        cut = list(cut_rows(one.message for one in new))
        starts = [0, *accumulate(len(row.messages) for row in cut)]
        for messages in cut:
            charts.add(messages.messages)
        repeated = self._repeated(first_uses)

        def is_repeated(row: int, call: CallRef) -> bool:
            return next(uses_in(new[starts[row]].piece, [call])) in repeated

        rows = check_rows(cut, Neighbours(self._before(), self._after(), *around), is_repeated)
        found = []
        for start, row in zip(starts, rows, strict=False):
            own = new[start : start + row.messages]
            value = sequence_hash(one.digest for one in own)
            found.append(HashedRow(row, tuple(join(one.piece for one in own)), value))
        return found

    def _new_placed(self) -> list[PlacedMessage]:
        """Return the new messages; reads the bodies of those that stay."""
        kept = iter(self._chain.bodies.with_places([one for one in self._new if isinstance(one, StoredMessage)]))
        return [next(kept) if isinstance(one, StoredMessage) else one for one in self._new]

    def _repeated(self, first_uses: FirstUses | None) -> set[IdUse]:
        """Return the new uses whose id an earlier call has."""
        if first_uses is not None:
            return {use for use in self.new_uses if first_uses.is_repeated(use)}
        return {new for old, new in zip(self._old_flags(), self.new_uses, strict=True) if old}

    def _old_flags(self) -> list[bool]:
        flags = []
        place = 0
        for number in range(self.first, self.stop):
            row = self._outline.row(number).row
            # only the first message of a pair can call tools
            flags += [repeats_id(row, call) for call in self._old[place].shape.calls]
            place += row.messages
        return flags

    def _before(self) -> RowMessages[Any] | None:
        """Return the row before, with only its first and last message, because no rule needs more."""
        if self.first == 0:
            return None
        place = self._outline.row(self.first - 1)
        ends = {place.start, place.start + place.row.messages - 1}
        pieces = [piece for index in sorted(ends) for piece in self._outline.pieces(index, index + 1)]
        return RowMessages(tuple(row.shape for row in self._chain.read(pieces)))

    def _after(self) -> Shape | None:
        if self.stop >= self._outline.listing.total.rows:
            return None
        return self._chain.read(self._outline.row(self.stop).pieces(1))[0].shape


def _refs(message: Shape) -> tuple[tuple[bool, Sequence[CallRef]], ...]:
    return (False, message.calls), (True, message.results)


def _shape(one: StoredMessage | PlacedMessage) -> Shape:
    return one.message if isinstance(one, PlacedMessage) else one.shape
