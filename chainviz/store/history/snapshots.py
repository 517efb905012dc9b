"""Make the next snapshot of another one: its pieces with some replaced, and its outline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from chainviz.core.providers.request import request_of
from chainviz.store.content.chain import StoredChain, chain_of
from chainviz.store.content.codec import pack
from chainviz.store.content.message_reader import pieces_of
from chainviz.store.content.pieces import PieceSplice, PlacedSplice, pack_pieces, pack_splices, splice
from chainviz.store.content.runs import Batch
from chainviz.store.content.spans import stored_bytes
from chainviz.store.models import Run, Snapshot, Template
from chainviz.store.outline.blocks import Listing
from chainviz.store.outline.build import compute_of, outline_of, rebuild_outline, save_outline
from chainviz.store.outline.cache import BlockReader, BlockWriter
from chainviz.store.outline.hashes import to_bytes
from chainviz.store.outline.measures import Charts, unpack_charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.update import OutlineEditor
from chainviz.store.transfer.document_context import context_of, note_beside

GENERATIONS = 50
"""After this many splices, a snapshot lists all its pieces, if the list is not much longer than the splices together."""
FAR = 1000
"""After this many splices, a snapshot always lists all its pieces."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The operation that made a snapshot, with its options and report."""

    operation: str
    options: dict[str, Any] = field(default_factory=dict)
    report: Sequence[Any] = ()
    run: Run | None = None
    """The run its step wrote."""


@dataclass(frozen=True, slots=True)
class NextSnapshot:
    """A snapshot whose outline is stored, but whose row is not yet."""

    parent: Snapshot
    listing: Listing
    charts: Charts
    pieces: dict[str, Any]
    stored: int
    blocks: BlockReader | None = None
    """The blocks of its outline that are in memory."""

    def create(self, origin: Origin, *, format: str = "", template: Template | None = None) -> Snapshot:
        """Store the snapshot. The default `format` and `template` are those of its parent."""
        parent, total = self.parent, self.listing.total
        snapshot = Snapshot.objects.create(
            history_id=parent.history_id,
            parent=parent,
            run=origin.run,
            **self.pieces,
            format=format or parent.format,
            template=template or parent.template,
            digest=to_bytes(self.listing.hash),
            messages=total.messages,
            sections=self.listing.section_count,
            pairs=total.pairs,
            size=total.size,
            stored=self.stored,
            operation=origin.operation,
            options=pack(origin.options),
            report=pack(list(origin.report)),
        )
        if template is not None:
            note_beside(snapshot, self.charts)
        if template is not None and request_of(context_of(snapshot)) != self.listing.request:
            rebuild_outline(snapshot)
        else:
            save_outline(snapshot, self.listing, self.charts, self.blocks)
            if self.blocks is not None:
                chain_of(snapshot).outline = OutlineReader(self.listing, self.blocks)
        return snapshot


def next_snapshot(parent: Snapshot, changes: Sequence[PlacedSplice], batch: Batch = nullcontext, format: str = "") -> NextSnapshot:
    """Return the snapshot after `parent`, in time proportional to the changes. `batch` opens the transactions in which blocks of the
    outline are written. `format` is the new format of a converted chain; "" if it does not change."""
    chain = chain_of(parent)
    writer = BlockWriter(parent.history_id, batch)
    charts = unpack_charts(outline_of(parent).charts)
    removed = _removed_bytes(chain, changes)
    listing = OutlineEditor(chain, writer, charts, format or parent.format).edit(changes)
    writer.flush()
    stored = parent.stored - removed + sum(change.stored for change in changes)
    pieces = _pieces(parent, [change.pieces for change in changes])
    return NextSnapshot(parent, listing, charts, pieces, stored, chain.outline.blocks)


def rebuilt_snapshot(
    parent: Snapshot, changes: Sequence[PieceSplice], added: int, batch: Batch = nullcontext, format: str = ""
) -> NextSnapshot:
    """Return the snapshot after `parent` if very many messages change. The outline is rebuilt from the start, so that few messages are in
    memory at a time. `added` is the size in bytes of the new messages in their source."""
    outline = outline_of(parent)
    chain = chain_of(parent)
    removed = _removed_bytes(chain, changes)
    writer = BlockWriter(parent.history_id, batch)
    listing, charts = compute_of(splice(pieces_of(parent), changes), (format or parent.format, chain.outline.listing.request), writer)
    writer.flush()
    before = unpack_charts(outline.charts)
    charts.beside, charts.times, charts.last_call = before.beside, before.times, before.last_call
    return NextSnapshot(parent, listing, charts, _pieces(parent, changes), parent.stored - removed + added)


def _removed_bytes(chain: StoredChain, changes: Iterable[PlacedSplice | PieceSplice]) -> int:
    removed = [piece for c in changes for piece in chain.outline.pieces(c.start, c.start + c.removed)]
    return sum(stored_bytes(row.source) for row in chain.rows_in(removed))


def _pieces(parent: Snapshot, splices: Sequence[PieceSplice]) -> dict[str, Any]:
    """Return the columns of the pieces: a splice against the parent or, from time to time, a full list. A full list is written only
    when the splices since the last one have a comparable size, so that versions stay small even if the pieces are scattered."""
    packed = pack_splices(splices)
    key = parent.key_id or parent.pk
    generation = parent.generation + 1
    if generation >= GENERATIONS:
        since = Snapshot.objects.filter(key=key).values_list("pieces", flat=True)
        full = pack_pieces(splice(pieces_of(parent), splices))
        if generation >= FAR or sum(map(len, since)) * 4 >= len(full):
            return {"key_id": None, "generation": 0, "pieces": full}
    return {"key_id": key, "generation": generation, "pieces": packed}
