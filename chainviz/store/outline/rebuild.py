"""Makes a snapshot's outline from its messages: where the cache was dropped, or was made by older rules."""

from __future__ import annotations

from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece
from chainviz.store.models import History, Outline, OutlineBlock, Snapshot
from chainviz.store.outline.blocks import Listing, PackedBlock
from chainviz.store.outline.build import OutlineBuilder, Placed
from chainviz.store.outline.cache import RULES, BlockKeeper, keep_outline
from chainviz.store.outline.charts import Charts

GROUP = 200


def outline_of(snapshot: Snapshot) -> Outline:
    """The outline, made anew if there is none of this edition."""
    outline = Outline.objects.filter(snapshot=snapshot, rules=RULES).first()
    return outline if outline is not None else rebuild_outline(snapshot)


def rebuild_outline(snapshot: Snapshot) -> Outline:
    keeper = BlockKeeper(snapshot.history_id)
    listing, charts = compute(snapshot, keeper)
    keeper.flush()
    return keep_outline(snapshot, listing, charts)


def rebuild_all() -> int:
    """Drops the whole cache and makes the outlines of all newest versions; the others are made when they are asked for."""
    Outline.objects.all().delete()
    OutlineBlock.objects.all().delete()
    count = 0
    for snapshot in Snapshot.objects.filter(pk__in=History.objects.values("head__snapshot")):
        rebuild_outline(snapshot)
        count += 1
    return count


def compute(snapshot: Snapshot, keep=lambda block: None) -> tuple[Listing, Charts]:  # type: ignore[no-untyped-def]
    builder = OutlineBuilder(keep)
    bodies = BodyReader()
    group: list[StoredMessage] = []
    for row in read_rows(pieces_of(snapshot)):
        group.append(row)
        if len(group) >= GROUP:
            _add(builder, bodies, group)
            group = []
    _add(builder, bodies, group)
    return builder.finish(), builder.charts


def _add(builder: OutlineBuilder, bodies: BodyReader, group: list[StoredMessage]) -> None:
    for row, message in zip(group, bodies.messages(group), strict=True):
        builder.add(Placed(message, Piece(row.run, row.position, 1), row.digest))


__all__ = ["PackedBlock", "compute", "outline_of", "rebuild_outline"]
