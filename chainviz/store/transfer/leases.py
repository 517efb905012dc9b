"""A history while its import runs, or a run while its step does: written in short transactions so that others can write
too, seen by nobody.

Each batch says that its writer is alive. One that fell silent was broken off, by a kill or a power cut; like one that
failed or was cancelled it goes through the purge mechanism, a slice at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.models import Body, History, Message, OutlineBlock, Run, Upload, UploadChunk, Writing
from chainviz.store.purge.delete import purging, remove
from chainviz.store.transfer.editions import held_edition

LEASE = timedelta(minutes=1)
"""An import that has written nothing for so long is taken for dead."""
STEP_BROKEN_OFF = "Values were purged from this chain meanwhile, or this took too long; look at it again."
CHUNKS, MESSAGES = 64, 2000
"""What goes in one transaction."""
WHY = "an import or a step that was broken off"
STEP_LEASE = timedelta(minutes=10)
"""The same of a step: between two of its batches it may have much to work out, and nobody waits for its room."""


class BrokenOff(Refused):
    """What the import had written was cleared away: it fell silent for too long (the computer slept, say), or values were
    purged from the same file."""


@contextmanager
def batch(history: History) -> Iterator[None]:
    """A transaction of a living import."""
    with transaction.atomic():
        now = _renew(history)
        if now is None:
            raise BrokenOff("The import stood still for too long, or values were purged from this file; upload it again.")
        yield
    history.importing = now


def _renew(history: History) -> datetime | None:
    """The new sign of life; None where the history is no longer ours."""
    now = timezone.now()
    return now if History.objects.filter(pk=history.pk, importing=history.importing).update(importing=now) else None


@contextmanager
def step_batch(writing: Writing, edition: int) -> Iterator[None]:
    """A transaction of a living step; `edition`: of the history when its content was read."""
    with transaction.atomic():
        now = _renew_step(writing) if held_edition(writing.run.history_id) == edition else None
        if now is None:
            raise BrokenOff(STEP_BROKEN_OFF)
        yield
    writing.alive = now


def end_step(writing: Writing) -> None:
    """In the transaction that shows what was written."""
    if not Writing.objects.filter(pk=writing.pk, alive=writing.alive).delete()[0]:
        raise BrokenOff(STEP_BROKEN_OFF)


def _renew_step(writing: Writing) -> datetime | None:
    now = timezone.now()
    return now if Writing.objects.filter(pk=writing.pk, alive=writing.alive).update(alive=now) else None


def discard_step(writing: Writing) -> bool:
    """Removes what a step wrote that did not end; False where it is no longer the caller's."""
    now = _renew_step(writing)
    if now is None:
        return False
    while _remove_messages(writing.run):
        pass
    with purging(WHY):
        remove(Writing.objects.filter(pk=writing.pk))
        remove(Run.objects.filter(pk=writing.pk))
    return True


def clear_abandoned_steps() -> int:
    """As `clear_abandoned`, of steps."""
    silent = Writing.objects.filter(alive__lt=timezone.now() - STEP_LEASE).select_related("run")
    return sum(discard_step(writing) for writing in silent)


def clear_abandoned() -> int:
    """Imports that were broken off go, with what only they wrote; how many there were."""
    silent = History.objects.filter(importing__lt=timezone.now() - LEASE)
    # renewed first: of two who clear only one does, and an import that lives after all finds out at its next batch
    dead = [history for history in silent if _renew(history) is not None]
    for history in dead:
        discard(history)
    return len(dead)


def discard(history: History) -> None:
    """Removes what an import wrote that did not end. Its upload stays if another chain comes from it."""
    for run in Run.objects.filter(history=history):
        while _remove_messages(run):
            pass
        while run.upload_id is not None and _remove_chunks(run, run.upload_id):
            pass
    with purging(WHY):
        runs = Run.objects.filter(history=history)
        uploads = list(runs.values_list("upload", flat=True))
        remove(OutlineBlock.objects.filter(history=history))
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
    """From the end, so that an upload is always whole up to somewhere: the next import of the file goes on from there."""
    with purging(WHY):
        upload = Upload.objects.select_for_update().get(pk=upload_id)
        if upload.runs.exclude(history=run.history_id).exists():
            return False
        last = upload.chunks.aggregate(last=Max("index"))["last"]
        remove(UploadChunk.objects.filter(upload=upload, index__gt=(last or 0) - CHUNKS))
    return last is not None
