"""Where the threads of a chain stand in a snapshot: worked out once, then kept as Place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.review.anchors import Anchor, Standing, follow
from chainviz.core.review.text_range import TextRange
from chainviz.review.models import Place, Thread
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.models import Snapshot, Version
from chainviz.store.successors import successors


def anchor_of(thread: Thread) -> Anchor:
    path = parse_path(thread.path) if thread.path else None
    marked = None if thread.start is None or thread.end is None else TextRange(thread.start, thread.end)
    return Anchor(path, marked)


def place_threads(chain: Chain, stored: StoredChain) -> None:
    """Stores the places that are not known yet. One query where all are."""
    key = stored.snapshot.pk
    missing = Thread.objects.filter(chain=chain).exclude(places__snapshot_key=key).order_by("version", "pk")
    threads = list(missing)
    if threads:
        Place.objects.bulk_create(places_of(chain, stored, threads), ignore_conflicts=True)


def places_of(chain: Chain, stored: StoredChain, threads: Sequence[Thread]) -> Iterator[Place]:
    """Yields where the threads stand, in the order of their versions; stores nothing."""
    numbers = {thread.version for thread in threads}
    versions = Version.objects.filter(history=chain.history, number__in=numbers).select_related("snapshot")
    snapshots = {version.number: version.snapshot for version in versions}
    for number, group in groupby(threads, lambda thread: thread.version):
        old = _earlier(snapshots[number], stored)
        for thread, standing in _standings(old, stored, list(group)):
            yield _place(thread, standing, stored)


def _earlier(snapshot: Snapshot, stored: StoredChain) -> StoredChain:
    """The two share what they read of their outlines, which have most blocks in common."""
    if snapshot.pk == stored.snapshot.pk:
        return stored
    chain = StoredChain(snapshot)
    chain.outline.blocks = stored.outline.blocks
    return chain


def _standings(old: StoredChain, new: StoredChain, threads: Sequence[Thread]) -> Iterator[tuple[Thread, Standing]]:
    anchors = [anchor_of(thread) for thread in threads]
    rows = [list(_rows(old, anchor)) for anchor in anchors]
    found = successors(old.snapshot, new.snapshot, (row for each in rows for row in each))
    for thread, anchor, own in zip(threads, anchors, rows, strict=True):
        yield thread, follow(anchor, old, new, [found[row.piece] for row in own])


def _rows(chain: StoredChain, anchor: Anchor) -> Sequence[StoredMessage]:
    if anchor.path is None:
        return []
    span = chain.span(Path(anchor.path.section, anchor.path.pair, anchor.path.message))
    return chain.rows(span.start, span.stop)


def _place(thread: Thread, standing: Standing, chain: StoredChain) -> Place:
    path = _path(anchor_of(thread), standing, chain)
    place = Place(thread=thread, snapshot_key=chain.snapshot.pk, state=standing.state, message=standing.index)
    place.path = str(path) if path is not None else ""
    if standing.range is not None:
        place.start, place.end = standing.range.start, standing.range.end
    return place


def _path(anchor: Anchor, standing: Standing, chain: StoredChain) -> Path | None:
    if anchor.path is None or standing.index is None:
        return None
    found = chain.outline.path_at(standing.index)
    if standing.state == "folded":
        return found.node
    if anchor.path.pair is None:
        return Path(found.section)
    if anchor.path.message is None and found.pair:
        return Path(found.section, found.pair)
    return Path(found.section, found.pair, found.message, standing.part)
