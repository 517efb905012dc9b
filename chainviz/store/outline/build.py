"""Build an outline from messages in order, with only the messages of one block in memory. This happens during an import, and if the cache
has no outline of the current rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from chainviz.core import progress
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, CallRef, Shape
from chainviz.core.chain.surroundings import UNREAD, unread_problems
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.providers.check import counted
from chainviz.core.providers.contract import NOT_UNDERSTOOD
from chainviz.core.providers.request import NO_REQUEST, Request, request_of
from chainviz.store.content.codec import pack
from chainviz.store.content.message_reader import pieces_of, read_placed, read_shapes
from chainviz.store.content.pieces import Piece, PlacedMessage, join, total
from chainviz.store.models import History, Outline, OutlineBlock, Snapshot
from chainviz.store.outline import blocks
from chainviz.store.outline.blocks import Entry, HashedRow, Listing, PackedBlock, pack_listing, pack_rows, pack_sections, sequence_hash
from chainviz.store.outline.cache import BlockReader, BlockWriter, listing_of, visible_problems
from chainviz.store.outline.edition import RULES_EDITION
from chainviz.store.outline.measures import NONE, Charts, Counts, add_counts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import RowMessages, SectionRow
from chainviz.store.outline.rules.late_results import NO_LATE, LateIds, LateResults, late_results
from chainviz.store.outline.rules.problem_rules import OPENING_RULE, Neighbours, check_rows
from chainviz.store.outline.rules.section_rules import SectionRules
from chainviz.store.outline.sections import SectionCutter
from chainviz.store.quick_only import must_be_quick
from chainviz.store.transfer.document_context import context_of, envelope_of, note_beside

OPENING_ROWS = 4096
"""The most rows before the first AI message that are checked together."""
HELD_BYTES = 8 << 20
"""The size in bytes at which a block ends, even if it has few messages."""


class OutlineBuilder:
    """Takes the messages of a snapshot in order; `write` stores each block that is full."""

    def __init__(
        self, write: Callable[[PackedBlock], None], format: str = "", late: LateIds = NO_LATE, request: Request = NO_REQUEST
    ) -> None:
        """`format` is the format of the chain, `late` the known ids of its late results, and `request` the recorded fields beside its
        messages."""
        self._write = write
        self._format = format
        self._late = late
        self._request = request
        self._results = LateResults()
        self._block = blocks.BLOCK
        self._open: list[PlacedMessage] = []
        """The messages of the current row."""
        self._rows: list[list[PlacedMessage]] = []
        self._held = 0
        self._before: RowMessages[Any] | None = None
        self._seen_ai = False
        self._ids: set[str] = set()
        self._cutter = SectionCutter()
        self._sections: list[SectionRow] = []
        self._row_entries: list[Entry] = []
        self._section_entries: list[Entry] = []
        self.charts = Charts()

    def add(self, placed: PlacedMessage) -> None:
        role = placed.message.role
        self._results.add(placed.message)
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
        self._before = None
        self._add_section(self._cutter.end())
        self._close_sections()
        return Listing(tuple(self._row_entries), tuple(self._section_entries), self._late, self._request)

    @property
    def is_whole(self) -> bool:
        """Whether the late results are exactly the known ones. Otherwise the chain must be checked again."""
        return self._results.ids == self._late

    def _close_row(self, after: Shape) -> None:
        # a row is complete when the next one begins, so a row always follows a block that ends here
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
        cut = [RowMessages(tuple([placed.message for placed in row])) for row in self._rows]
        rows = check_rows(cut, Neighbours(self._before, after, self._format, self._late, self._request), self._is_repeated)
        hashed = []
        for row, messages, placed in zip(rows, cut, self._rows, strict=True):
            self.charts.add(messages.messages)
            value = sequence_hash([one.digest for one in placed])
            hashed.append(HashedRow(row, tuple(join([one.piece for one in placed])), value))
            self._add_section(self._cutter.feed(row, placed[0].piece))
        self._row_entries.append(self._pack(pack_rows(hashed)))
        self._before = cut[-1]
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
        self._write(block)
        return block.entry


def outline_of(snapshot: Snapshot) -> Outline:
    """Return the outline; rebuild it if there is none of this edition."""
    outline: Outline | None = None
    if Snapshot.outline.is_cached(snapshot):
        outline = getattr(snapshot, "outline", None)
    if outline is None or outline.rules != RULES_EDITION:
        outline = Outline.objects.filter(snapshot=snapshot, rules=RULES_EDITION).first()
    if outline is None and must_be_quick() and _is_large(snapshot):
        raise OutlineMissing(snapshot)
    outline = outline or rebuild_outline(snapshot)
    outline.snapshot = snapshot
    return outline


MESSAGES_AT_ONCE = 4_000
BYTES_AT_ONCE = 4_000_000
"""The largest snapshot, in messages and bytes, whose outline is rebuilt while a page is rendered. Larger ones take too long."""


class OutlineMissing(Exception):
    """Raised if there is no outline of this edition, and it takes too long to rebuild while a page is rendered."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(f"snapshot {snapshot.pk} has no outline of this edition")
        self.snapshot = snapshot


def _is_large(snapshot: Snapshot) -> bool:
    return snapshot.messages > MESSAGES_AT_ONCE or snapshot.size > BYTES_AT_ONCE


def save_outline(snapshot: Snapshot, listing: Listing, charts: Charts, blocks: BlockReader | None = None) -> Outline:
    """Store the outline. `blocks` are its blocks in memory."""
    by_section = SectionRules(OutlineReader(listing, blocks or BlockReader(snapshot.history_id)), snapshot.format).total()
    problems = add_counts(visible_problems(listing.total, listing.section_count), by_section)
    problems = add_counts(problems, _unread(snapshot))
    errors, warnings, *_ = problems.get("", NONE)
    outline = Outline(
        snapshot=snapshot,
        rules=RULES_EDITION,
        listing=pack_listing(listing),
        errors=errors,
        warnings=warnings,
        verdicts=pack(problems),
        charts=charts.packed(),
    )
    columns = ["rules", "listing", "errors", "warnings", "verdicts", "charts"]
    Outline.objects.bulk_create([outline], update_conflicts=True, update_fields=columns, unique_fields=["snapshot"])
    return outline


def broken_rules(outline: Outline) -> list[str]:
    """Return the rules that a chain breaks, in alphabetical order. Rules of providers are named `provider:rule`."""
    listing, snapshot = listing_of(outline), outline.snapshot
    several = listing.section_count > 1
    in_rows = {rule for rule in listing.total.rules if rule != OPENING_RULE or several}
    by_section = SectionRules(OutlineReader(listing, BlockReader(snapshot.history_id)), snapshot.format)
    unread = {f"{name}:{NOT_UNDERSTOOD.id}" if name else UNREAD for name in _unread(snapshot)}
    return sorted(in_rows | by_section.broken() | unread)


def _unread(snapshot: Snapshot) -> Counts:
    """Return the number of kinds of unread content, as a count for the tree and for each provider."""
    unread = envelope_of(snapshot).unread
    if not unread:
        return {}
    return {"": counted(unread_problems(unread)), **{provider.name: counted(provider.unread(unread)) for provider in PROVIDERS}}


def rebuild_outline(snapshot: Snapshot, report: Progress = ignore_progress) -> Outline:
    writer = BlockWriter(snapshot.history_id)
    listing, charts = compute(snapshot, writer, report)
    writer.flush()
    return save_outline(snapshot, listing, charts)


def rebuild_all() -> int:
    """Drop all outlines and rebuild those of the newest versions. Others are rebuilt on demand. Return the number of rebuilt outlines."""
    Outline.objects.all().delete()
    OutlineBlock.objects.all().delete()
    heads = Snapshot.objects.filter(pk__in=History.objects.values("head__snapshot"))
    return len([rebuild_outline(snapshot) for snapshot in heads])


def compute(
    snapshot: Snapshot, write: Callable[[PackedBlock], None] = lambda block: None, report: Progress = ignore_progress
) -> tuple[Listing, Charts]:
    listing, charts = compute_of(pieces_of(snapshot), (snapshot.format, request_of(context_of(snapshot))), write, report)
    note_beside(snapshot, charts)
    return listing, charts


def compute_of(
    pieces: Sequence[Piece], document: tuple[str, Request], write: Callable[[PackedBlock], None], report: Progress = ignore_progress
) -> tuple[Listing, Charts]:
    """Return the outline of messages without a snapshot. `document` is their format and the recorded fields beside them; the charts do not
    include these fields."""
    format, request = document
    builder = OutlineBuilder(write, format, late_results(read_shapes(pieces)), request)
    for placed in progress.counted(read_placed(pieces), total(pieces), report, "checked"):
        builder.add(placed)
    return builder.finish(), builder.charts
