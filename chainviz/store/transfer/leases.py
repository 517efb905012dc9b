"""Leases of imports and long steps, which are written in short transactions and show nothing before the last one.

Each batch renews the lease. What fell silent was broken off, by a kill or a power cut; like what failed or was cancelled
it is removed inside the purge guard, a slice at a time. A batch also fails where a purge came between (`edition`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.content.uploads import together, unused
from chainviz.store.models import Body, History, Message, OutlineBlock, Run, RunChecksum, Upload, UploadChunk, Writing
from chainviz.store.purge.delete import purging, remove, remove_upload

LEASE = timedelta(minutes=1)
"""An import that has written nothing for this long counts as dead."""
STEP_BROKEN_OFF = "Values were purged from this chain meanwhile, or this took too long. Check it again."
CHUNKS, MESSAGES = 64, 2000
"""The number of chunks and messages that are removed in one transaction."""
WHY = "an import or a step that was broken off"
STEP_LEASE = timedelta(minutes=10)
"""The same for a step, which may compute for long between two batches."""


class BrokenOff(Refused):
    """The rows of this import are removed: the writer fell silent for too long (the computer slept, say), or values were purged."""


@contextmanager
def batch(history: History) -> Iterator[None]:
    """Open a transaction of an import. Raises BrokenOff if its lease is lost."""
    with transaction.atomic():
        now = _renew(history)
        if now is None:
            raise BrokenOff("The import was idle for too long, or values were purged from this file; upload it again.")
        yield
    history.importing = now


def _renew(history: History) -> datetime | None:
    """Return the time of the renewal, or None if the lease is lost."""
    now = timezone.now()
    return now if History.objects.filter(pk=history.pk, importing=history.importing).update(importing=now) else None


@contextmanager
def step_batch(writing: Writing, edition: int) -> Iterator[None]:
    """Open a transaction of a step. `edition`: of the history when its content was read."""
    with transaction.atomic():
        now = _renew_step(writing) if lock_edition(writing.run.history_id) == edition else None
        if now is None:
            raise BrokenOff(STEP_BROKEN_OFF)
        yield
    writing.alive = now


def end_step(writing: Writing) -> None:
    """End the lease, in the transaction that shows the step."""
    if not Writing.objects.filter(pk=writing.pk, alive=writing.alive).delete()[0]:
        raise BrokenOff(STEP_BROKEN_OFF)


def _renew_step(writing: Writing) -> datetime | None:
    now = timezone.now()
    return now if Writing.objects.filter(pk=writing.pk, alive=writing.alive).update(alive=now) else None


def discard_step(writing: Writing) -> bool:
    """Remove what an unfinished step wrote. Returns False if the lease is lost."""
    now = _renew_step(writing)
    if now is None:
        return False
    upload_id = writing.run.upload_id
    while _remove_messages(writing.run):
        pass
    with purging(WHY):
        remove(Writing.objects.filter(pk=writing.pk))
        remove(RunChecksum.objects.filter(run=writing.pk))
        remove(Run.objects.filter(pk=writing.pk))
        # that of a file that grew: no version came of it
        for upload in unused([upload_id] if upload_id else []):
            remove_upload(upload)
    return True


def clear_abandoned_steps() -> int:
    """Remove steps that fell silent. Returns how many."""
    silent = Writing.objects.filter(alive__lt=timezone.now() - STEP_LEASE).select_related("run")
    return sum(discard_step(writing) for writing in silent)


def clear_abandoned() -> int:
    """Remove imports that fell silent, with what only they wrote. Returns how many."""
    silent = History.objects.filter(importing__lt=timezone.now() - LEASE)
    # renewed first: of two sweepers only one removes it, and an import that is alive after all fails at its next batch
    dead = [history for history in silent if _renew(history) is not None]
    for history in dead:
        discard(history)
    return len(dead)


def discard(history: History) -> None:
    """Delete what an unfinished import wrote. Its upload stays if another chain comes from it."""
    for run in Run.objects.filter(history=history):
        while _remove_messages(run):
            pass
        while run.upload_id is not None and _remove_chunks(run, run.upload_id):
            pass
    with purging(WHY):
        runs = Run.objects.filter(history=history)
        uploads = list(runs.values_list("upload", flat=True))
        remove(OutlineBlock.objects.filter(history=history))
        remove(RunChecksum.objects.filter(run__history=history))
        remove(runs)
        remove(History.objects.filter(pk=history.pk))
        remove(Upload.objects.filter(pk__in=uploads, runs__isnull=True, chunks__isnull=True))


def _remove_messages(run: Run) -> bool:
    with purging(WHY):
        last = Message.objects.filter(run=run).aggregate(last=Max("position"))["last"]
        for model in (Body, Message):
            remove(model._default_manager.filter(run=run, position__gt=(last or 0) - MESSAGES))
    return last is not None


def _remove_chunks(run: Run, upload_id: int) -> bool:
    """Remove chunks from the end, so that the next import of the file can continue where the rest ends."""
    with purging(WHY):
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        if upload.runs.exclude(history=run.history_id).exists() or together(upload).filter(pk__gt=upload.pk).exists():
            return False
        last = upload.chunks.aggregate(last=Max("index"))["last"]
        remove(UploadChunk.objects.filter(upload=upload, index__gt=(last or 0) - CHUNKS))
    return last is not None


GONE = -1


def lock_edition(history: int) -> int:
    """Return the number of purges of the history, or GONE if it was deleted for good, and lock it: no purge changes it
    until the transaction ends, while others write. PostgreSQL checks foreign keys, and locks for them, too late for
    this."""
    table = connection.ops.quote_name(History._meta.db_table)
    share = " FOR KEY SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT edition FROM {table} WHERE id = %s{share}", [history])
        row = cursor.fetchone()
    return int(row[0]) if row else GONE
