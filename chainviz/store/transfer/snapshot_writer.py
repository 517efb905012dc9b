"""Write a snapshot of an import or a copy: one run with all messages, and their outline.

A copy is version 1 of a history of its own, with bodies of its own. Like an import, it is written in short transactions into a history
that shows nothing until the last of them, so that others can write meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from django.db import DatabaseError
from django.utils import timezone

from chainviz.core.chain.messages import Message
from chainviz.core.errors import Refused
from chainviz.core.providers.request import NO_REQUEST, Request, request_of
from chainviz.store.content.codec import pack
from chainviz.store.content.message_reader import messages_of
from chainviz.store.content.pieces import Piece, pack_pieces
from chainviz.store.content.runs import Batch, RunWriter
from chainviz.store.lineage import COPY, copy_options
from chainviz.store.models import History, Run, Snapshot, Template, Version
from chainviz.store.outline.blocks import to_bytes
from chainviz.store.outline.build import OutlineBuilder, rebuild_outline, save_outline
from chainviz.store.outline.cache import BlockWriter
from chainviz.store.transfer.document_context import context_of, note_beside
from chainviz.store.transfer.leases import batch, discard
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
        self, template: Template | None, operation: str = "", options: dict[str, Any] | None = None, parent: Snapshot | None = None
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
        version = Version.objects.create(history=history, number=number, snapshot=snapshot, parent=version, author=author, note=note)
    assert version is not None
    History.objects.filter(pk=history.pk).update(head=version, importing=None)
    return version


PURGED = "Values were purged from this chain while it was copied; the copy is gone. Copy it again."


class Finish(Protocol):
    def __call__(self, *, author: str, note: str = "") -> Version: ...


@contextmanager
def copied(old: Snapshot) -> Iterator[Finish]:
    """Write the copy. The block calls the yielded function, which makes version 1 of it, in a transaction and behind its
    locks; otherwise, or where the block fails, nothing stays.

    Spans into the upload stay spans: an upload belongs to its owner, not to one chain.
    """
    # read before the content: what a purge has changed since may not be written
    edition = History.objects.values_list("edition", flat=True).get(pk=old.history_id)
    history = History.objects.create(importing=timezone.now())
    try:
        upload_id = old.template.run.upload_id if old.template is not None else None
        run = Run.objects.create(history=history, kind=Run.IMPORT, format=old.format, upload_id=upload_id)
        writer = SnapshotWriter(run, request=request_of(context_of(old)))
        writer.write(messages_of(old))

        def finish(*, author: str, note: str = "") -> Version:
            same = History.objects.select_for_update().filter(pk=old.history_id, edition=edition)
            if not same.exists():
                raise Refused(PURGED)
            with batch(history):
                around = old.template
                template = writer.template(bytes(around.envelope), bytes(around.shell)) if around is not None else None
                snapshot = writer.snapshot(template, COPY, copy_options(old))
                return first_version(snapshot, author=author, note=note)

        yield finish
    except BaseException:
        # if this fails too, the sweeper clears the history away once it has been silent for long
        with suppress(DatabaseError):
            discard(history)
        raise
