"""Import a later state of a file as the next version of its chain, and write only what is new.

The session of an agent grows while it runs, or is rewritten, as by a compaction. Messages with the same place and text
stay
those of the version before. Like a long step (history/steps.py) a version is written in short transactions and shows
nothing until the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain as chained

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core.chain.messages import Message
from chainviz.core.documents.units import Envelope, to_json
from chainviz.core.formats.reader import read_chain
from chainviz.store.content.codec import pack_body
from chainviz.store.content.message_reader import pieces_of, read_rows
from chainviz.store.content.pieces import PlacedSplice
from chainviz.store.content.runs import Batch, RunWriter
from chainviz.store.content.spans import message_digest, pack_source
from chainviz.store.content.uploads import fill, upload_of
from chainviz.store.history.snapshots import Origin, next_snapshot
from chainviz.store.history.versions import advance
from chainviz.store.models import History, Run, Snapshot, Template, Upload, Version, Writing
from chainviz.store.transfer.imports import MessageList, request_around
from chainviz.store.transfer.leases import discard_step, end_step, step_batch
from chainviz.store.transfer.snapshot_writer import SnapshotWriter

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


def grow(
    head: Version, difference: Difference, *, author: str, note: str, arrived: Callable[[Version], object]
) -> Version:
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
        show = _written(difference, run, batch)
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


def _written(difference: Difference, run: Run, batch: Batch) -> Callable[[], Snapshot]:
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
