"""Copies a snapshot as version 1 of a history of its own, with bodies of its own.

Like an import, a copy is written in short transactions into a history that shows nothing until the last of them, so that
others can write meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

from django.db import DatabaseError
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.core.providers.request import request_of
from chainviz.store.content.message_reader import messages_of
from chainviz.store.lineage import COPY, copy_options
from chainviz.store.models import History, Run, Snapshot, Version
from chainviz.store.transfer.document_context import context_of
from chainviz.store.transfer.leases import batch, discard
from chainviz.store.transfer.snapshot_writer import SnapshotWriter, first_version

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
