"""Imports a message list of a file as a chain: one run, one snapshot, version 1.

An import is written in short transactions into a history that shows nothing until the last of them makes version 1, so
that others can write meanwhile (leases.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core.chain.messages import Message
from chainviz.core.documents.envelope_json import to_json
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Span
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain
from chainviz.core.progress import Progress, ignore_progress
from chainviz.store.content.codec import pack_body
from chainviz.store.content.uploads import fill, upload_of
from chainviz.store.models import History, Run, Version
from chainviz.store.transfer.leases import batch, discard
from chainviz.store.transfer.snapshot_writer import SnapshotWriter, first_version

LEAST_PROGRESS = 1 << 16
"""Bytes between two reports; of a longer list every hundredth is reported."""


@dataclass(frozen=True, slots=True)
class MessageList:
    """A message list of an open file, and how it is read."""

    source: Source
    found: FoundList
    format: Format
    salvage: bool = False


def import_chain(
    messages: MessageList,
    *,
    owner: str,
    filename: str = "",
    progress: Progress = ignore_progress,
    arrived: Callable[[Version], object] = lambda version: None,
) -> Version:
    """Returns the first version of a new history. `arrived` is called in the transaction that makes it; if that or
    `progress` raises, nothing stays."""
    source = messages.source
    with transaction.atomic():
        upload = upload_of(source, owner=owner, filename=filename)
        history = History.objects.create(importing=timezone.now())
        run = Run.objects.create(history=history, kind=Run.IMPORT, format=messages.format.name, upload=upload)
    try:
        progress(0, "Storing the file")
        fill(upload, source, lambda: batch(history))
        reader = read_chain(source, messages.found, messages.format, salvage=messages.salvage)
        writer = SnapshotWriter(run)
        writer.write(_reported(reader, messages.found.region, progress))
        envelope = pack_body(to_json(reader.envelope).encode())
        with batch(history):
            progress(1, "Saving version 1")
            version = first_version(writer.snapshot(writer.template(envelope)), author=owner)
            arrived(version)
        return version
    except BaseException:
        # if this fails too, the sweeper clears the history away once it has been silent for long
        with suppress(DatabaseError):
            discard(history)
        raise


def _reported(reader: Iterable[Message], region: Span, progress: Progress) -> Iterator[Message]:
    length = max(1, region.end - region.start)
    reported, step = region.start, max(length // 100, LEAST_PROGRESS)
    for count, message in enumerate(reader, 1):
        yield message
        place = message.source[-1].start if message.source else 0
        if place - reported >= step:
            reported = place
            progress(min(1.0, (place - region.start) / length), f"{count:,} messages read")
