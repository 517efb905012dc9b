"""Deletion for good: the one way past append-only. Bytes and plain digests go; a keyed tombstone stays.

A plain digest of something short can be guessed, so a tombstone keeps only a digest keyed with the site's secret: who
has the bytes (and the secret) can tell that they were here, nobody else can tell anything."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from django.conf import settings
from django.db import DatabaseError, connection, models, router, transaction

from chainviz.store.content.message_reader import forget
from chainviz.store.content.uploads import unused
from chainviz.store.models import (
    Body,
    Derived,
    Draft,
    History,
    Message,
    Outline,
    OutlineBlock,
    Purge,
    Run,
    RunChecksum,
    Snapshot,
    Step,
    Template,
    Tombstone,
    Upload,
    UploadChunk,
    Version,
    Writing,
)
from chainviz.store.search import index as search


@contextmanager
def purging(reason: str) -> Iterator[None]:
    """A transaction in which stored rows may go. Its row is gone before it commits: nobody else ever sees it."""
    with transaction.atomic():
        purge = Purge.objects.create(reason=reason)
        yield
        purge.delete()
    forget()


def delete_for_good(history: History, *, reason: str = "deleted for good") -> None:
    """The whole chain, with its drafts; its upload too, unless another chain came from it."""
    number = history.pk
    uploads = set(Run.objects.filter(history=number, upload__isnull=False).values_list("upload", flat=True))
    with purging(reason):
        # first, so that nothing more is written
        remove(Writing.objects.filter(run__history=number))
        for snapshot_digest in Snapshot.objects.filter(versions__history=number).values_list("digest", flat=True):
            bury(number, "version", bytes(snapshot_digest), reason)
        History.objects.filter(pk=number).update(head=None)
        remove(Step.objects.filter(draft__in=Draft.objects.filter(history=number)))
        remove(Draft.objects.filter(history=number))
        remove(Version.objects.filter(history=number))
        search.remove({number})
        remove_snapshots(Snapshot.objects.filter(history=number))
        remove(OutlineBlock.objects.filter(history=number))
        remove_runs(Run.objects.filter(history=number))
        remove(History.objects.filter(pk=number))
        for upload in unused(uploads):
            bury(number, "upload", bytes.fromhex(upload.sha256), reason)
            remove_upload(upload)
        transaction.on_commit(empty_log_soon)


def is_buried(digest: bytes) -> bool:
    """Whether something with this digest was deleted for good."""
    return Tombstone.objects.filter(digest=_keyed(digest)).exists()


def bury(history: int, kind: str, digest: bytes, reason: str) -> None:
    Tombstone.objects.create(history=history, kind=kind, digest=_keyed(digest), reason=reason)


def _keyed(digest: bytes) -> str:
    return hmac.new(settings.SECRET_KEY.encode(), b"chainviz tombstone" + digest, sha256).hexdigest()


def remove_snapshots(snapshots: models.QuerySet[Snapshot]) -> None:
    remove(Derived.objects.filter(snapshot__in=snapshots))
    remove(Outline.objects.filter(snapshot__in=snapshots))
    remove(snapshots)


def remove_runs(runs: models.QuerySet[Run]) -> None:
    for model in (Body, Message, Template, RunChecksum):
        remove(model._default_manager.filter(run__in=runs))
    remove(runs)


def remove_upload(upload: Upload) -> None:
    remove(UploadChunk.objects.filter(upload=upload))
    remove(Upload.objects.filter(pk=upload.pk))


def remove(rows: models.QuerySet) -> None:  # type: ignore[type-arg]
    # one statement; the order of the calls is that of the foreign keys
    rows._raw_delete(router.db_for_write(rows.model))


log = logging.getLogger(__name__)


def empty_log() -> bool:
    """Write the write-ahead log of SQLite, which may contain deleted rows, into the database and truncate it. Return False if a
    reader still needs it. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (busy, *_) = cursor.fetchone()
    return not busy


def empty_log_soon() -> None:
    """Empty the log after a deletion. If it is busy, later writes overwrite it."""
    if connection.vendor != "sqlite":
        return
    try:
        empty_log()
    except DatabaseError:
        log.warning("the write-ahead log could not be emptied after a deletion", exc_info=True)
