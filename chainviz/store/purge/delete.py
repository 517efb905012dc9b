"""Delete content permanently. Only this module may change append-only tables. Bytes and plain digests are removed; a keyed tombstone stays.

A plain digest of short content can be guessed. Therefore a tombstone has only a digest that is keyed with the site's secret: it shows that
certain bytes were here only to somebody who has both the bytes and the secret.

Garbage is snapshots that no version or draft uses any more, and the runs that only they used. It comes from discarded drafts, from
undone steps that a new step replaced, and from steps that a rebase repeated.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from django.conf import settings
from django.db import DatabaseError, connection, models, router, transaction

from chainviz.store.content.at_hand import forget
from chainviz.store.content.pieces import runs_in
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
    """Open a transaction in which stored rows may be changed and deleted. Its row in `store_purge` is removed before the commit, so no
    other transaction sees it."""
    with transaction.atomic():
        purge = Purge.objects.create(reason=reason)
        yield
        purge.delete()
    forget()


def delete_for_good(history: History, *, reason: str = "deleted for good") -> None:
    """Delete a whole chain with its drafts, and its upload unless another chain uses it."""
    number = history.pk
    uploads = set(Run.objects.filter(history=number, upload__isnull=False).values_list("upload", flat=True))
    with purging(reason):
        # lock first, so that nothing more is written
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
    # the order of the deletions follows the foreign keys
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


def collect_all() -> int:
    """Collect the garbage of all histories. Return the number of deleted snapshots."""
    used: set[int | None] = {
        *Version.objects.values_list("snapshot", flat=True),
        *Step.objects.values_list("snapshot", flat=True),
        *Snapshot.objects.values_list("parent", flat=True),
    }
    rows = Snapshot.objects.values_list("pk", "history")
    histories = {history for snapshot, history in rows.iterator() if snapshot not in used}
    return sum(collect(history) for history in History.objects.filter(pk__in=histories, importing=None))


def collect(history: History) -> int:
    """Collect the garbage of one history. Return the number of deleted snapshots."""
    with purging("garbage collection"):
        # steps and saves take the same lock before they write
        History.objects.select_for_update().get(pk=history.pk)
        parents = dict(Snapshot.objects.filter(history=history).values_list("pk", "parent"))
        reached = _reached(history, parents)
        garbage = parents.keys() - reached
        if garbage:
            runs = _runs_of(history, reached)
            remove_snapshots(Snapshot.objects.filter(pk__in=garbage))
            remove_runs(Run.objects.filter(history=history, writing=None).exclude(pk__in=runs))
    return len(garbage)


def _reached(history: History, parents: dict[int, int | None]) -> set[int]:
    """Return the snapshots of versions and steps, with all their ancestors."""
    reached: set[int] = set()
    saved = Version.objects.filter(history=history).values_list("snapshot", flat=True)
    for snapshot in (*saved, *Step.objects.filter(draft__history=history).values_list("snapshot", flat=True)):
        at: int | None = snapshot
        while at is not None and at not in reached:
            reached.add(at)
            at = parents[at]
    return reached


def _runs_of(history: History, snapshots: set[int]) -> set[int]:
    templates: models.QuerySet[Snapshot, int | None] = Snapshot.objects.filter(pk__in=snapshots).values_list("template", flat=True)
    runs = set(Template.objects.filter(run__history=history, pk__in=templates).values_list("pk", flat=True))
    # a step that only removes messages has its own run, which no piece refers to
    for run, key, packed in Snapshot.objects.filter(pk__in=snapshots).values_list("run", "key", "pieces"):
        runs |= {run} | runs_in(packed, is_key=key is None)
    return runs
