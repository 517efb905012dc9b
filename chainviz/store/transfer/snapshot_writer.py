"""Writes a snapshot of an import or a copy: one run with all messages, and their outline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.providers.request import NO_REQUEST, Request, request_of
from chainviz.store.content.codec import pack
from chainviz.store.content.pieces import Piece, pack_pieces
from chainviz.store.content.runs import Batch, RunWriter
from chainviz.store.models import History, Run, Snapshot, Template, Version
from chainviz.store.outline.build import OutlineBuilder, rebuild_outline, save_outline
from chainviz.store.outline.cache import BlockWriter
from chainviz.store.outline.hashes import to_bytes
from chainviz.store.transfer.document_context import context_of, note_beside
from chainviz.store.transfer.leases import batch as import_batch


class SnapshotWriter:
    def __init__(self, run: Run, batch: Batch | None = None, request: Request = NO_REQUEST) -> None:
        """`batch` opens the transactions of an existing history. `request` contains the facts beside the messages, as
        far as they are known before the messages are read."""
        self._run = run
        self._writer = RunWriter(run, batch or (lambda: import_batch(run.history)))
        self._blocks = BlockWriter(run.history_id)
        self._builder = OutlineBuilder(self._blocks, run.format, request=request)

    def write(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._builder.add(self._writer.add(message))
        self._writer.finish()
        self._listing = self._builder.finish()
        self._blocks.flush()

    def template(self, envelope: bytes, shell: bytes = b"") -> Template:
        return Template.objects.create(run=self._run, envelope=envelope, shell=shell, starts=self._writer.starts)

    def snapshot(
        self,
        template: Template | None,
        operation: str = "",
        options: dict[str, Any] | None = None,
        parent: Snapshot | None = None,
    ) -> Snapshot:
        run, listing, count = self._run, self._listing, self._writer.count
        total = listing.total
        snapshot = Snapshot.objects.create(
            history=run.history,
            parent=parent,
            run=run,
            pieces=pack_pieces([Piece(run.pk, 0, count)] if count else []),
            format=run.format,
            template=template,
            digest=to_bytes(listing.hash),
            messages=total.messages,
            sections=listing.section_count,
            pairs=total.pairs,
            size=total.size,
            stored=self._writer.stored,
            operation=operation,
            options=pack(options or {}),
            report=pack([]),
        )
        if self._builder.is_whole and listing.request == request_of(context_of(snapshot)):
            note_beside(snapshot, self._builder.charts)
            save_outline(snapshot, listing, self._builder.charts)
        else:
            rebuild_outline(snapshot)
        return snapshot


def first_version(snapshot: Snapshot, *, author: str, note: str = "") -> Version:
    """Show the snapshot as version 1; with that its import is over."""
    return first_versions([snapshot], author=author, note=note)


def first_versions(snapshots: Sequence[Snapshot], *, author: str, note: str = "") -> Version:
    """Show the snapshots as versions from 1 and return the last one; with that their import is over."""
    history = snapshots[0].history
    version: Version | None = None
    for number, snapshot in enumerate(snapshots, 1):
        version = Version.objects.create(
            history=history, number=number, snapshot=snapshot, parent=version, author=author, note=note
        )
    assert version is not None
    History.objects.filter(pk=history.pk).update(head=version, importing=None)
    return version
