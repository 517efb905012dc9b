"""A history while its import runs: written in short transactions so that others can write too, seen by nobody.

Each batch says that the import is alive. One that fell silent was broken off, by a kill or a power cut; like one that
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
from chainviz.store.models import Body, History, Message, OutlineBlock, Run, Upload, UploadChunk
from chainviz.store.purge import purging, remove

LEASE = timedelta(minutes=1)
"""An import that has written nothing for so long is taken for dead."""
CHUNKS, MESSAGES = 64, 2000
"""What goes in one transaction."""
WHY = "an import that was broken off"


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
