"""Import a message list of a file as a chain: one run, one snapshot, version 1. Lists with earlier states of the chain become earlier
versions, each with its own run.

An import is written in short transactions, so that others can write meanwhile (leases.py). The history has no versions until the last
transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core.chain.messages import Message
from chainviz.core.counts import count_text
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Envelope, FoundList, Span, to_json
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain
from chainviz.core.progress import Progress, ignore_progress
from chainviz.core.providers.request import Request, request_of
from chainviz.store.content.codec import pack_body
from chainviz.store.content.uploads import fill, upload_of
from chainviz.store.models import History, Run, Snapshot, Version
from chainviz.store.transfer.leases import batch, discard
from chainviz.store.transfer.snapshot_writer import SnapshotWriter, first_versions

LEAST_PROGRESS = 1 << 16
"""The fewest bytes between two progress reports. A longer list reports every hundredth of its length."""


@dataclass(frozen=True, slots=True)
class MessageList:
    """A message list of an open file, with the format to read it in."""

    source: Source
    found: FoundList
    format: Format
    salvage: bool = False
    earlier: tuple[MessageList, ...] = ()
    """Lists of the same file with earlier states of this one, oldest first."""
    filename: str = ""


def import_chain(
    messages: MessageList,
    *,
    owner: str,
    author: str = "",
    progress: Progress = ignore_progress,
    arrived: Callable[[Version], object] = lambda version: None,
) -> Version:
    """Import the list into a new history, and return its newest version. `arrived` is called in the transaction that saves it. If
    `arrived` or `progress` raises an exception, nothing stays."""
    source, states = messages.source, (*messages.earlier, messages)
    with transaction.atomic():
        upload = upload_of(source, owner=owner, filename=messages.filename)
        history = History.objects.create(importing=timezone.now())
        run = Run.objects.create(history=history, kind=Run.IMPORT, format=states[0].format.name, upload=upload)
    try:
        progress(0, "Storing the file")
        fill(upload, source, lambda: batch(history))
        # the run of the oldest state refers to the upload from the start
        runs = [run, *(_next_run(run, state.format.name) for state in states[1:])]
        written = [_written(state, each, progress) for state, each in zip(states, runs, strict=True)]
        with batch(history):
            progress(1, f"Saving version {len(states)}")
            version = first_versions(list(_snapshots(written)), author=author or owner)
            arrived(version)
        return version
    except BaseException:
        # if this fails too, the sweeper removes the history when its lease has expired
        with suppress(DatabaseError):
            discard(history)
        raise


def _next_run(run: Run, format: str) -> Run:
    with batch(run.history):
        return Run.objects.create(history=run.history, kind=Run.IMPORT, format=format, upload_id=run.upload_id)


def _written(messages: MessageList, run: Run, progress: Progress) -> tuple[SnapshotWriter, bytes]:
    """Write all messages. Return the writer and the envelope."""
    reader = read_chain(messages.source, messages.found, messages.format, salvage=messages.salvage)
    writer = SnapshotWriter(run, request=request_around(messages))
    writer.write(_reported(reader, messages.found.region, progress))
    return writer, pack_body(to_json(reader.envelope).encode())


def request_around(messages: MessageList) -> Request:
    """Return the recorded request beside the messages, before the messages are read. A chain in several lists is checked again
    afterwards."""
    found = messages.found
    content = Span(found.start, found.end)
    envelope = Envelope(found.region, content, found.pointer, found.lines, found.inside, single=found.single)
    return request_of(DocumentContext(envelope, messages.source.read))


def _snapshots(written: Iterable[tuple[SnapshotWriter, bytes]]) -> Iterator[Snapshot]:
    parent: Snapshot | None = None
    for writer, envelope in written:
        parent = writer.snapshot(writer.template(envelope), parent=parent)
        yield parent


def _reported(reader: Iterable[Message], region: Span, progress: Progress) -> Iterator[Message]:
    length = max(1, region.end - region.start)
    reported, step = region.start, max(length // 100, LEAST_PROGRESS)
    for count, message in enumerate(reader, 1):
        yield message
        place = message.source[-1].start if message.source else 0
        if place - reported >= step:
            reported = place
            progress(min(1.0, (place - region.start) / length), f"{count_text(count, 'message')} read")
