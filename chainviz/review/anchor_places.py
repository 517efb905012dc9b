"""Find the place in a snapshot of what was attached to nodes of earlier versions; places.py of threads and labels store it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Protocol, TypeVar

from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path
from chainviz.core.review import Anchor, Standing, follow
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.models import Snapshot, Version
from chainviz.store.successors import successors


class Anchored(Protocol):
    """A thread or a label."""

    @property
    def version(self) -> int: ...
    @property
    def anchor(self) -> Anchor: ...


A = TypeVar("A", bound=Anchored)


def standings(chain: Chain, stored: StoredChain, rows: Sequence[A]) -> Iterator[tuple[A, Standing, str]]:
    """Yield the standing of each row, and its path in this content. `rows`: in the order of their versions."""
    numbers = {row.version for row in rows}
    versions = Version.objects.filter(history=chain.history, number__in=numbers).select_related("snapshot")
    snapshots = {version.number: version.snapshot for version in versions}
    for number, group in groupby(rows, lambda row: row.version):
        old = _earlier(snapshots[number], stored)
        for row, standing in _followed(old, stored, list(group)):
            path = _path(row.anchor, standing, stored)
            yield row, standing, str(path) if path is not None else ""


def _earlier(snapshot: Snapshot, stored: StoredChain) -> StoredChain:
    """Return the earlier chain. Both share the blocks of their outlines that were read, since most are equal."""
    if snapshot.pk == stored.snapshot.pk:
        return stored
    chain = StoredChain(snapshot)
    chain.outline.blocks = stored.outline.blocks
    return chain


def _followed(old: StoredChain, new: StoredChain, rows: Sequence[A]) -> Iterator[tuple[A, Standing]]:
    own = [list(_messages(old, row.anchor)) for row in rows]
    found = successors(old.snapshot, new.snapshot, (message for each in own for message in each))
    for row, messages in zip(rows, own, strict=True):
        yield row, follow(row.anchor, old, new, [found[message.piece] for message in messages])


def _messages(chain: StoredChain, anchor: Anchor) -> Sequence[StoredMessage]:
    if anchor.path is None:
        return []
    span = chain.span(Path(anchor.path.section, anchor.path.pair, anchor.path.message))
    return chain.rows(span.start, span.stop)


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
