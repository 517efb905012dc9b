"""A snapshot after another one: the same pieces with some replaced, and the outline with them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from chainviz.store.content.codec import pack
from chainviz.store.content.message_reader import pieces_of, read_rows
from chainviz.store.content.pieces import PieceSplice, join, pack_pieces, pack_splices, splice
from chainviz.store.content.spans import stored_bytes
from chainviz.store.models import Snapshot, Template
from chainviz.store.outline.blocks import Listing
from chainviz.store.outline.build import Placed
from chainviz.store.outline.cache import Batch, BlockKeeper, BlockReader, keep_outline, listing_of
from chainviz.store.outline.charts import Charts, unpack_charts
from chainviz.store.outline.hashes import to_bytes
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rebuild import outline_of
from chainviz.store.outline.recut import Change
from chainviz.store.outline.update import OutlineEditor

GENERATIONS = 50
"""A full list of pieces at the latest after this many splices, if it is not much longer than they are together."""
FAR = 1000
"""And in any case after this many."""


@dataclass(frozen=True, slots=True)
class StoredChange:
    """Messages `start : start + removed` of the parent give way to messages that lie in runs already."""

    start: int
    removed: int
    placed: tuple[Placed, ...]
    stored: int
    """Bytes of `placed` as their source spells them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What made a snapshot."""

    operation: str
    options: dict[str, Any] = field(default_factory=dict)
    report: Sequence[Any] = ()


@dataclass(frozen=True, slots=True)
class Following:
    """What follows a snapshot, all but the row that shows it."""

    parent: Snapshot
    listing: Listing
    charts: Charts
    pieces: dict[str, Any]
    stored: int

    def show(self, origin: Origin, *, format: str = "", template: Template | None = None) -> Snapshot:
        parent, total = self.parent, self.listing.total
        snapshot = Snapshot.objects.create(
            history_id=parent.history_id,
            parent=parent,
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
        keep_outline(snapshot, self.listing, self.charts)
        return snapshot


def following(parent: Snapshot, changes: Sequence[StoredChange], batch: Batch = nullcontext) -> Following:
    """Takes as long as there are changes; `batch` makes the transactions in which blocks of the outline are kept."""
    outline = outline_of(parent)
    keeper = BlockKeeper(parent.history_id, batch=batch)
    charts = unpack_charts(outline.charts)
    old = OutlineReader(listing_of(outline), BlockReader(parent.history_id))
    removed = removed_bytes(old, changes)
    listing = OutlineEditor(old, keeper, charts).edit([Change(c.start, c.removed, c.placed) for c in changes])
    keeper.flush()
    splices = [PieceSplice(c.start, c.removed, tuple(join(p.piece for p in c.placed))) for c in changes]
    stored = parent.stored - removed + sum(change.stored for change in changes)
    return Following(parent, listing, charts, _pieces(parent, splices), stored)


def removed_bytes(outline: OutlineReader, changes: Iterable[StoredChange]) -> int:
    gone = (piece for c in changes for piece in outline.pieces(c.start, c.start + c.removed))
    return sum(stored_bytes(row.source) for row in read_rows(gone))


def _pieces(parent: Snapshot, splices: list[PieceSplice]) -> dict[str, Any]:
    """As a splice against the parent, or in full from time to time. A full list is written only when the splices since
    the last one are worth a good part of it, so that versions stay small however scattered the pieces are."""
    packed = pack_splices(splices)
    key = parent.key_id or parent.pk
    generation = parent.generation + 1
    if generation >= GENERATIONS:
        since = Snapshot.objects.filter(key=key).values_list("pieces", flat=True)
        full = pack_pieces(splice(pieces_of(parent), splices))
        if generation >= FAR or sum(map(len, since)) * 4 >= len(full):
            return {"key_id": None, "generation": 0, "pieces": full}
    return {"key_id": key, "generation": generation, "pieces": packed}
