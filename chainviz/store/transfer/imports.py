"""Import a message list of a file as a chain: one run, one snapshot, version 1; and a later state of the file as the next version.

Lists with earlier states of the chain become earlier versions, each with its own run. The session of an agent grows while it runs, or is
rewritten, as by a compaction: messages with the same place and text stay those of the version before, and only what is new is written.

An import is written in short transactions, so that others can write meanwhile (leases.py). The history, or the new version, shows
nothing until the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain as chained

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
from chainviz.store.content.message_reader import pieces_of, read_rows
from chainviz.store.content.pieces import PlacedSplice
from chainviz.store.content.runs import Batch, RunWriter
from chainviz.store.content.spans import message_digest, pack_source
from chainviz.store.content.uploads import fill, upload_of
from chainviz.store.history.drafts import advance
from chainviz.store.history.steps import Origin, next_snapshot
from chainviz.store.models import History, Run, Snapshot, Template, Upload, Version, Writing
from chainviz.store.transfer.leases import batch, discard, discard_step, end_step, step_batch
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


MOST_NEW, MOST_BYTES = 2_000, 16 << 20
"""The most new messages, and bytes of them, that are held in memory. A version with more is written completely, like an
import."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Between the last state of a file that was read and the present one."""

    before: Snapshot
    messages: MessageList
    kept: int
    """The number of equal messages at the beginning."""
    new: tuple[Message, ...] | None
    """The messages after those, or None if there are too many."""
    envelope: Envelope | None
    """The envelope of the present state, or None if it was not read to the end."""

    @property
    def removed(self) -> int:
        return self.before.messages - self.kept

    @property
    def is_none(self) -> bool:
        return self.new == () and not self.removed


def last_file_state(history: int) -> Snapshot | None:
    """Return the content of the newest version that came from the file as it was; None for a chain that came from none."""
    snapshots = Snapshot.objects.filter(versions__history=history, operation="", template__run__upload__isnull=False)
    return snapshots.select_related("template__run__upload").order_by("pk").last()


def compare(before: Snapshot, messages: MessageList) -> Difference:
    rows = read_rows(pieces_of(before))
    reader = read_chain(messages.source, messages.found, messages.format, salvage=messages.salvage)
    present = iter(reader)
    kept = 0
    for message in present:
        row = next(rows, None)
        if row is None or row.digest != message_digest(message) or row.source != pack_source(message.source).spans:
            new = _few(chained((message,), present))
            return Difference(before, messages, kept, new, reader.envelope if new else None)
        kept += 1
    return Difference(before, messages, kept, (), reader.envelope)


def _few(messages: Iterator[Message]) -> tuple[Message, ...] | None:
    found: list[Message] = []
    size = 0
    for message in messages:
        found.append(message)
        size += message.size
        if len(found) > MOST_NEW or size > MOST_BYTES:
            return None
    return tuple(found)


def grow(head: Version, difference: Difference, *, author: str, note: str, arrived: Callable[[Version], object]) -> Version:
    """Return the next version. `arrived` is called in the transaction that makes it; if it raises, nothing stays.

    Raises Conflict if another version came between, and BrokenOff where values were purged.
    """
    source, before = difference.messages.source, difference.before
    assert before.template is not None
    old = before.template.run
    edition = History.objects.values_list("edition", flat=True).get(pk=head.history_id)
    with transaction.atomic():
        assert old.upload is not None
        upload = upload_of(source, owner=old.upload.owner, filename=old.upload.filename, before=old.upload)
        run = _new_run(head.history_id, difference.messages, upload)
        writing = Writing.objects.create(run=run, alive=timezone.now())
    try:
        batch = partial(step_batch, writing, edition)
        fill(upload, source, batch)
        show = _writer_of(difference, run, batch)
        with transaction.atomic():
            end_step(writing)
            version = advance(head, show(), author=author, note=note)
            arrived(version)
        return version
    except BaseException:
        # if this fails too, the sweeper clears the run away once it has been silent for long
        with suppress(DatabaseError):
            discard_step(writing)
        raise


def _new_run(history: int, messages: MessageList, upload: Upload) -> Run:
    return Run.objects.create(history_id=history, kind=Run.IMPORT, format=messages.format.name, upload=upload)


def _writer_of(difference: Difference, run: Run, batch: Batch) -> Callable[[], Snapshot]:
    if difference.new is None:
        return _whole(difference, run, batch)
    return _appended(difference, difference.new, run, batch)


def _appended(difference: Difference, new: Sequence[Message], run: Run, batch: Batch) -> Callable[[], Snapshot]:
    assert difference.envelope is not None
    writer = RunWriter(run, batch)
    placed = tuple(writer.add(message) for message in new)
    writer.finish()
    splice = PlacedSplice(difference.kept, difference.removed, placed, writer.stored)
    following = next_snapshot(difference.before, [splice], batch)
    packed, starts = _packed(difference.envelope), writer.starts

    def show() -> Snapshot:
        template = Template.objects.create(run=run, envelope=packed, shell=b"", starts=starts)
        return following.create(Origin("", run=run), format=run.format, template=template)

    return show


def _whole(difference: Difference, run: Run, batch: Batch) -> Callable[[], Snapshot]:
    messages = difference.messages
    reader = read_chain(messages.source, messages.found, messages.format, salvage=messages.salvage)
    writer = SnapshotWriter(run, batch, request_around(messages))
    writer.write(reader)
    return lambda: writer.snapshot(writer.template(_packed(reader.envelope)), parent=difference.before)


def _packed(envelope: Envelope) -> bytes:
    return pack_body(to_json(envelope).encode())
