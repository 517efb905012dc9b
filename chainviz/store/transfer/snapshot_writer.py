"""A snapshot as version 1 of a history of its own, with bodies of its own.

Like an import it is written in short transactions into a history that shows nothing until the last of them, so that
others can write meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from django.db import DatabaseError
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.content.codec import pack
from chainviz.store.content.pieces import Piece, pack_pieces
from chainviz.store.content.runs import RunWriter
from chainviz.store.lineage.ancestry import COPY, copy_options
from chainviz.store.models import History, Run, Snapshot, Template, Version
from chainviz.store.outline.build import OutlineBuilder
from chainviz.store.outline.cache import BlockKeeper, keep_outline
from chainviz.store.outline.hashes import to_bytes
from chainviz.store.transfer.exports import messages_of
from chainviz.store.transfer.imports import first_version
from chainviz.store.transfer.leases import batch, discard

PURGED = "Values were purged from this chain while it was copied; the copy is gone. Copy it again."


class Finish(Protocol):
    def __call__(self, *, author: str, note: str = "") -> Version: ...


@contextmanager
def copied(old: Snapshot) -> Iterator[Finish]:
    """Writes the copy; then the block makes version 1 of it with what it is given, in a transaction and behind its locks.

    Without that, or where the block fails, nothing stays. Spans into the upload stay spans: an upload belongs to its
    owner, not to one chain.
    """
    # read before any content: what a purge has changed since may not be written
    edition = History.objects.values_list("edition", flat=True).get(pk=old.history_id)
    history = History.objects.create(importing=timezone.now())
    try:
        content = _Content(old, history)

        def finish(*, author: str, note: str = "") -> Version:
            same = History.objects.select_for_update().filter(pk=old.history_id, edition=edition)
            if not same.exists():
                raise Refused(PURGED)
            with batch(history):
                return first_version(content.snapshot(), author=author, note=note)

        yield finish
    except BaseException:
        # where even that fails it is cleared away once the history has been silent for long
        with suppress(DatabaseError):
            discard(history)
        raise


class _Content:
    """The one run of a copy and the snapshot that shows it."""

    def __init__(self, old: Snapshot, history: History) -> None:
        self._old = old
        template = old.template
        upload_id = template.run.upload_id if template is not None else None
        self._run = Run.objects.create(history=history, kind=Run.IMPORT, format=old.format, upload_id=upload_id)
        self._writer = RunWriter(self._run, lambda: batch(history))
        keeper = BlockKeeper(history.pk)
        self._builder = OutlineBuilder(keeper)
        for message in messages_of(old):
            self._builder.add(self._writer.add(message))
        self._writer.flush()
        self._listing = self._builder.finish()
        keeper.flush()

    def snapshot(self) -> Snapshot:
        old, run, count = self._old, self._run, self._writer.count
        own = None
        if old.template is not None:
            own = Template.objects.create(
                run=run,
                envelope=bytes(old.template.envelope),
                shell=bytes(old.template.shell),
                starts=self._writer.starts,
            )
        snapshot = Snapshot.objects.create(
            history=run.history,
            pieces=pack_pieces([Piece(run.pk, 0, count)] if count else []),
            format=old.format,
            template=own,
            digest=to_bytes(self._listing.hash),
            messages=old.messages,
            sections=old.sections,
            pairs=old.pairs,
            size=old.size,
            stored=old.stored,
            operation=COPY,
            options=pack(copy_options(old)),
            report=pack([]),
        )
        keep_outline(snapshot, self._listing, self._builder.charts)
        return snapshot
