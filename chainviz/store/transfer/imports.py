"""A message list of an upload becomes a chain: one run, one snapshot, version 1.

Nobody waits for it: it is written in short transactions into a history that shows nothing until the last of them makes
version 1 (unfinished.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.core.chain.messages import Message
from chainviz.core.documents.envelope_json import to_json
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Span
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain
from chainviz.store.content.codec import pack, pack_body
from chainviz.store.content.pieces import Piece, pack_pieces
from chainviz.store.content.runs import RunWriter
from chainviz.store.content.uploads import fill, upload_of
from chainviz.store.models import History, Run, Snapshot, Template, Version
from chainviz.store.outline.build import OutlineBuilder
from chainviz.store.outline.cache import BlockKeeper, keep_outline
from chainviz.store.outline.hashes import to_bytes
from chainviz.store.transfer.leases import batch, discard

LEAST_PROGRESS = 1 << 16
"""Bytes; of a long list every hundredth is told."""
CANCELLED = "The upload was cancelled; nothing was stored."

Progress = Callable[[float, str], None]


class Cancelled(Refused):
    """The person no longer wants it; nothing was stored."""


def import_chain(
    source: Source,
    found: FoundList,
    format: Format,
    *,
    owner: str,
    author: str = "",
    filename: str = "",
    note: str = "",
    salvage: bool = False,
    progress: Progress = lambda done, text: None,
    cancelled: Callable[[], bool] = lambda: False,
    arrived: Callable[[Version], object] = lambda version: None,
) -> Version:
    """The first version of a new history.

    `arrived` is called in the transaction that makes the version: if it fails there is none.
    """
    with transaction.atomic():
        upload = upload_of(source, owner=owner, filename=filename)
        history = History.objects.create(importing=timezone.now())
        run = Run.objects.create(history=history, kind=Run.IMPORT, format=format.name, upload=upload)
    try:
        progress(0, "Storing the file")
        fill(upload, source, lambda: batch(history))
        reader = read_chain(source, found, format, salvage=salvage)
        content = _Content(run)
        content.write(_watched(reader, found.region, progress, cancelled))
        envelope = pack_body(to_json(reader.envelope).encode())
        with batch(history):
            if cancelled():
                raise Cancelled(CANCELLED)
            version = first_version(content.snapshot(envelope), author=author, note=note)
            arrived(version)
        return version
    except BaseException:
        # where even that fails it is cleared away once the history has been silent for long
        with suppress(DatabaseError):
            discard(history)
        raise


def _watched(
    reader: Iterable[Message], region: Span, progress: Progress, cancelled: Callable[[], bool]
) -> Iterator[Message]:
    length = max(1, region.end - region.start)
    told, step = region.start, max(length // 100, LEAST_PROGRESS)
    for count, message in enumerate(reader, 1):
        yield message
        place = message.source[-1].start if message.source else 0
        if place - told >= step:
            told = place
            if cancelled():
                raise Cancelled(CANCELLED)
            progress(min(1.0, (place - region.start) / length), f"{count:,} messages read")


class _Content:
    """The one run of an import and the snapshot that shows it."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._writer = RunWriter(run, lambda: batch(run.history))
        self._keeper = BlockKeeper(run.history_id)
        self._builder = OutlineBuilder(self._keeper)

    def write(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._builder.add(self._writer.add(message))
        self._writer.flush()
        self._listing = self._builder.finish()
        self._keeper.flush()
        self._starts = self._writer.starts

    def snapshot(self, envelope: bytes) -> Snapshot:
        run, listing, count = self._run, self._listing, self._writer.count
        template = Template.objects.create(run=run, envelope=envelope, shell=b"", starts=self._starts)
        total = listing.total
        snapshot = Snapshot.objects.create(
            history=run.history,
            pieces=pack_pieces([Piece(run.pk, 0, count)] if count else []),
            format=run.format,
            template=template,
            digest=to_bytes(listing.hash),
            messages=total.messages,
            sections=listing.section_count,
            pairs=total.pairs,
            size=total.size,
            stored=self._writer.stored,
            operation="",
            options=pack({}),
            report=pack([]),
        )
        keep_outline(snapshot, listing, self._builder.charts)
        return snapshot


def first_version(snapshot: Snapshot, *, author: str, note: str) -> Version:
    version = Version.objects.create(history=snapshot.history, number=1, snapshot=snapshot, author=author, note=note)
    History.objects.filter(pk=snapshot.history_id).update(head=version, importing=None)
    return version
