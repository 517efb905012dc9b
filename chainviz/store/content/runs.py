"""Write runs: messages in order, a batch of rows and bodies at a time, and their checksum.

The checksum is of the places of the messages, and of their bodies. Other columns of a message row are derived.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from hashlib import blake2b
from typing import Any

from django.db import connection, models

from chainviz.core.chain.messages import Message as CoreMessage
from chainviz.store.checksums import LENGTH
from chainviz.store.content.codec import pack_body
from chainviz.store.content.message_shapes import pack_skeleton, preview
from chainviz.store.content.pieces import Piece, PlacedMessage
from chainviz.store.content.spans import message_digest, pack_source
from chainviz.store.models import Body, Message, Run, RunChecksum

READ = 500
"""The number of rows that are read in one query."""


class RunHash:
    """The checksum of a run whose messages are added in order."""

    def __init__(self) -> None:
        self._sources, self._bodies = blake2b(digest_size=LENGTH), blake2b(digest_size=LENGTH)

    def add_sources(self, sources: Iterable[tuple[int, bytes]]) -> None:
        """Add the spans of messages, each with the position of its message."""
        self._sources.update(b"".join([b"%d:%d:%b" % (position, len(source), source) for position, source in sources]))

    def add_body(self, position: int, content: bytes) -> None:
        """Add a body in its stored form."""
        self._bodies.update(b"%d:%d:" % (position, len(content)) + content)

    def digest(self) -> bytes:
        return self._sources.digest() + self._bodies.digest()


def stored_hash(run: int) -> bytes:
    """Return the digest of a run as its rows are now."""
    found = RunHash()
    sources = Message.objects.filter(run=run).order_by("position").values_list("position", "source")
    for position, source in sources.iterator(chunk_size=READ):
        found.add_sources([(position, bytes(source))])
    bodies = Body.objects.filter(run=run).order_by("position").values_list("position", "content")
    for position, content in bodies.iterator(chunk_size=READ):
        found.add_body(position, bytes(content))
    return found.digest()


def renew_run_checksum(run: int) -> None:
    """Compute the checksum again after a purge, which changes bodies."""
    RunChecksum.objects.filter(run=run).update(digest=stored_hash(run))


BATCH = 4000
BATCH_BYTES = 4 << 20

Batch = Callable[[], AbstractContextManager[None]]
"""Opens the transaction of a batch."""


class RunWriter:
    def __init__(self, run: Run, batch: Batch = nullcontext) -> None:
        """Without `batch`, everything is written in the open transaction."""
        self._batch = batch
        self._run: int = run.pk
        self.count = 0
        self.stored = 0
        self._rows: list[tuple[Any, ...]] = []
        self._bodies: list[tuple[Any, ...]] = []
        self._held = 0
        self._hash = RunHash()
        self._starts = array("Q")
        self._positions = array("I")

    def add(self, message: CoreMessage) -> PlacedMessage:
        position = self.count
        digest = message_digest(message)
        source = pack_source(message.source)
        self._rows.append((self._run, position, digest, message.size, pack_skeleton(message), preview(message), source.spans))
        if source.body:
            body = pack_body(source.body)
            self._hash.add_body(position, body)
            self._bodies.append((self._run, position, body))
            self._held += len(source.body)
        self.stored += source.length
        for fragment in message.source:
            if fragment.start >= 0:
                self._starts.append(fragment.start)
                self._positions.append(position)
        self.count += 1
        if len(self._rows) >= BATCH or self._held >= BATCH_BYTES:
            self.flush()
        return PlacedMessage(message, Piece(self._run, position, 1), digest)

    def flush(self) -> None:
        columns = ["run_id", "position", "digest", "size", "skeleton", "preview", "source"]
        with self._batch():
            if self._rows:
                self._hash.add_sources((row[1], row[-1]) for row in self._rows)
                insert_many(Message, columns, self._rows)
            if self._bodies:
                insert_many(Body, ["run_id", "position", "content"], self._bodies)
        self._rows, self._bodies, self._held = [], [], 0

    def finish(self) -> None:
        """Write the remaining rows, and the checksum of the run."""
        self.flush()
        with self._batch():
            RunChecksum.objects.create(run_id=self._run, digest=self._hash.digest())

    @property
    def starts(self) -> bytes:
        """The start of each fragment in the upload, and the position of its message, packed."""
        return pack_starts(self._starts, self._positions)


def pack_starts(starts: array[int], positions: array[int]) -> bytes:
    return zlib.compress(starts.tobytes() + positions.tobytes(), 1)


def unpack_starts(packed: bytes | memoryview) -> tuple[array[int], array[int]]:
    content = zlib.decompress(packed)
    starts, positions = array("Q"), array("I")
    count = len(content) // (starts.itemsize + positions.itemsize)
    starts.frombytes(content[: count * starts.itemsize])
    positions.frombytes(content[count * starts.itemsize :])
    return starts, positions


def insert_many(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows without the ORM, which would be too slow for the hundred thousand rows of an import."""
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    names = ", ".join(map(quote, columns))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(rows))
