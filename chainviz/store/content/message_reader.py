"""Reads the pieces of a snapshot and the messages in them, by run and position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from django.db import connection

from chainviz.core import formats
from chainviz.core.chain.messages import HUMAN, CallRef, Fragment, Part
from chainviz.core.chain.messages import Message as CoreMessage
from chainviz.core.documents.json import long_values
from chainviz.core.documents.units import Read
from chainviz.core.formats.contract import Format
from chainviz.store.content.at_hand import forgettable
from chainviz.store.content.beginnings import MANY, PartWindow, begun
from chainviz.store.content.codec import DEFLATED, unpack_body
from chainviz.store.content.message_shapes import StoredShape, role_in, unpack_shape
from chainviz.store.content.pieces import Piece, PlacedMessage, join, splice, total, unpack_pieces, unpack_splices
from chainviz.store.content.spans import SourceSpan, first_ordinal, fragments, stored_bytes, texts_of, unpack_spans
from chainviz.store.content.uploads import UploadReader, chunks_of
from chainviz.store.models import Body, Message, Run, Snapshot

QUERY_PIECES = 200
"""The most pieces that are read in one query, since SQLite accepts no expression deeper than 1000."""
QUERY_MESSAGES = 2000
HELD_ROWS = 500
FEW_BODIES = 2
BATCH, BATCH_BYTES = 200, 4_000_000
"""The most messages, and about the most bytes of their contents, that are read together when a whole chain is read."""


@dataclass(slots=True)
class StoredMessage:
    """A message row, without its body."""

    run: int
    position: int
    digest: bytes
    size: int
    skeleton: bytes
    preview: str
    source: bytes
    _shape: StoredShape | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def shape(self) -> StoredShape:
        """The shape, unpacked when it is first asked for: who reads the bodies needs no more than the role."""
        if self._shape is None:
            self._shape = unpack_shape(self.skeleton, self.size, self.preview)
        return self._shape

    @property
    def role(self) -> str:
        return role_in(self.skeleton)

    @property
    def piece(self) -> Piece:
        return Piece(self.run, self.position, 1)

    @property
    def has_many_parts(self) -> bool:
        """Return True if it is worth reading only some of its parts."""
        return len(self.shape.parts) > MANY


@forgettable
@lru_cache(maxsize=32)
def _pieces(snapshot_id: int, key_id: int | None, packed: bytes, digest: bytes) -> tuple[Piece, ...]:
    # packed and digest are part of the cache's key: the database uses a number again after a rollback
    if key_id is None:
        return tuple(unpack_pieces(packed))
    rows = Snapshot.objects.filter(key=key_id, pk__lte=snapshot_id).values_list("pk", "parent_id", "pieces")
    known = {pk: (parent, splices) for pk, parent, splices in rows}
    path = []
    place = snapshot_id
    while place != key_id:
        parent, splices = known[place]
        path.append(splices)
        place = parent
    pieces = unpack_pieces(Snapshot.objects.values_list("pieces", flat=True).get(pk=place))
    for splices in reversed(path):
        pieces = splice(pieces, unpack_splices(splices))
    return tuple(pieces)


def pieces_of(snapshot: Snapshot) -> tuple[Piece, ...]:
    """Return all pieces. Snapshots never change, so the last ones stay in memory."""
    return _pieces(snapshot.pk, snapshot.key_id, bytes(snapshot.pieces), bytes(snapshot.digest))


Runs = dict[int, tuple[str, int | None, str]]
"""The format, upload and kind of runs."""
COLUMNS = ("digest", "size", "skeleton", "preview", "source")


def read_rows(pieces: Iterable[Piece]) -> Iterator[StoredMessage]:
    """Yield the message rows of some pieces, in order."""
    for group in _groups(pieces):
        found = _read_group(group)
        for piece in group:
            for position in range(piece.start, piece.start + piece.length):
                yield found[piece.run, position]


def _read_group(group: Sequence[Piece], runs: Runs | None = None) -> dict[tuple[int, int], StoredMessage]:
    found = {}
    rows = _select(Message, COLUMNS, group) if runs is None else _select_with_runs(group, runs)
    for run, position, digest, size, skeleton, preview, source in rows:
        found[run, position] = StoredMessage(run, position, bytes(digest), size, bytes(skeleton), preview, bytes(source))
    return found


class RowReader:
    """Reads message rows of one chain and keeps the last ones, since a page reads the same few several times."""

    def __init__(self, runs: Runs) -> None:
        """Set up a cache. `runs` collects the facts of the runs that are read."""
        self._held: dict[tuple[int, int], StoredMessage] = {}
        self._runs = runs
        self.around = 0
        """The number of neighbours that are read with a message, since an edit uses several."""

    def __call__(self, pieces: Iterable[Piece]) -> list[StoredMessage]:
        pieces = list(pieces)
        if total(pieces) > HELD_ROWS:
            return list(read_rows(pieces))
        places = [(run, start + i) for run, start, length in pieces for i in range(length)]
        found = {place: self._held[place] for place in places if place in self._held}
        missing = join(Piece(*place, 1) for place in dict.fromkeys(places) if place not in found)
        read: dict[tuple[int, int], StoredMessage] = {}
        for group in _groups(Piece(run, start - self.around, length + 2 * self.around) for run, start, length in missing):
            read |= _read_group(group, self._runs)
        found |= read
        if len(self._held) > HELD_ROWS:
            self._held.clear()
        self._held |= found
        return [found[place] for place in places]


def read_shapes(pieces: Iterable[Piece]) -> Iterator[StoredShape]:
    """Yield the shapes alone, which are enough for a tree. Only those of human messages have a preview, for all of them
    together would be long."""
    for group in _groups(pieces):
        rows = _select(Message, ("size", "skeleton", "preview"), group)
        found = {(run, position): shape for run, position, *shape in rows}
        for run, start, length in group:
            for position in range(start, start + length):
                size, skeleton, preview = found[run, position]
                shape = unpack_shape(skeleton, size, "")
                yield replace(shape, preview=preview) if shape.role == HUMAN else shape


def read_skeletons(pieces: Iterable[Piece], part: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield position and packed skeleton, in any order, of the messages whose skeletons contain these bytes or are deflated. The database
    looks for them, since it takes a third of the time of a search to read all skeletons of a long chain."""
    table = connection.ops.quote_name(Message._meta.db_table)
    place = "instr(skeleton, %s)" if connection.vendor == "sqlite" else "position(%s in skeleton)"
    for group in _groups(pieces):
        condition, values = _within(group)
        with connection.cursor() as cursor:
            query = f"SELECT position, skeleton FROM {table} WHERE ({condition}) AND ({place} > 0 OR {place} = 1)"
            cursor.execute(query, [*values, part, DEFLATED])
            yield from ((position, bytes(skeleton)) for position, skeleton in cursor.fetchall())


def read_ordinals(pieces: Iterable[Piece]) -> Iterator[int | None]:
    """Yield in order the unit of the source in which each message begins, or None if it has none yet. Reads nothing else of a row."""
    for group in _groups(pieces):
        found = {(run, position): first_ordinal(bytes(source)) for run, position, source in _select(Message, ("source",), group)}
        for run, start, length in group:
            yield from (found[run, position] for position in range(start, start + length))


PREFETCHED = 64
"""The number of chunks of an upload that are read at once: 16 MB."""


def _groups(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    group: list[Piece] = []
    held = 0
    for run, start, length in pieces:
        while length:
            taken = min(length, QUERY_MESSAGES - held)
            group.append(Piece(run, start, taken))
            start, length, held = start + taken, length - taken, held + taken
            if held >= QUERY_MESSAGES or len(group) >= QUERY_PIECES:
                yield group
                group, held = [], 0
    if group:
        yield group


def total_size(pieces: Iterable[Piece]) -> int:
    """Return the content bytes of the messages of some pieces, without reading them."""
    table = connection.ops.quote_name(Message._meta.db_table)
    found = 0
    for group in _groups(pieces):
        condition, values = _within(group)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT COALESCE(SUM(size), 0) FROM {table} WHERE {condition}", values)
            found += int(cursor.fetchone()[0])
    return found


def _within(pieces: Sequence[Piece]) -> tuple[str, list[int]]:
    """Return the condition for these messages in plain SQL, since building the same Q object takes longer than the query."""
    condition = " OR ".join(["(run_id = %s AND position BETWEEN %s AND %s)"] * len(pieces))
    return condition, [value for run, start, length in pieces for value in (run, start, start + length - 1)]


def _select(model: type[Message] | type[Body], columns: Sequence[str], pieces: Sequence[Piece]) -> list[Sequence[Any]]:
    """Return rows of some pieces, in any order."""
    quote = connection.ops.quote_name
    condition, values = _within(pieces)
    names = ", ".join(map(quote, ("run_id", "position", *columns)))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {names} FROM {quote(model._meta.db_table)} WHERE {condition}", values)
        rows: list[Sequence[Any]] = cursor.fetchall()
    return rows


def _select_with_runs(pieces: Sequence[Piece], runs: Runs) -> list[Sequence[Any]]:
    quote = connection.ops.quote_name
    condition, values = _within(pieces)
    names = ", ".join(f"m.{quote(name)}" for name in ("run_id", "position", *COLUMNS))
    tables = f"{quote(Message._meta.db_table)} m JOIN {quote(Run._meta.db_table)} r ON r.{quote('id')} = m.{quote('run_id')}"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT r.format, r.upload_id, r.kind, {names} FROM {tables} WHERE {condition}", values)
        rows = cursor.fetchall()
    runs |= {row[3]: row[:3] for row in rows}
    return [row[3:] for row in rows]


def read_calls(pieces: Iterable[Piece]) -> Iterator[tuple[int, int, tuple[CallRef, ...]]]:
    """Yield run, position and calls of the messages that call tools, in order."""
    for group in _groups(pieces):
        found = {}
        for run, position, skeleton in _select(Message, ["skeleton"], group):
            shape = unpack_shape(skeleton, 0, "")
            if shape.calls:
                found[run, position] = shape.calls
        for piece in group:
            for position in range(piece.start, piece.start + piece.length):
                calls = found.get((piece.run, position))
                if calls:
                    yield piece.run, position, calls


def read_bodies(pieces: Iterable[Piece]) -> Iterator[tuple[int, int, bytes]]:
    """Yield run, position and content of the messages with a body of their own."""
    for group in _groups(pieces):
        for run, position, content in _select(Body, ["content"], group):
            yield run, position, unpack_body(content)


class BodyReader:
    """Turns message rows into messages by reading their bodies; keeps what it read about runs and uploads."""

    def __init__(self) -> None:
        self.runs: Runs = {}
        self._uploads: dict[int, UploadReader] = {}
        self._ahead: dict[tuple[int, int], bytes] = {}
        """Bodies that were read in advance."""

    def read_ahead(self, rows: Sequence[StoredMessage]) -> None:
        """Read the bodies of short messages in one query, before they are needed one by one."""
        short = [row for row in rows if not _is_long(row)]
        spans = [unpack_spans(row.source) for row in short]
        self._learn({row.run for row in short})
        self._ahead |= self._bodies([row for row, found in zip(short, spans, strict=True) if _has_own(found)])
        self._prefetch(short, spans)

    def messages(self, rows: Sequence[StoredMessage]) -> list[CoreMessage]:
        sources = self.sources(rows)
        written = {run: formats.get_format(self.runs[run][0]) for run in {row.run for row in rows}}
        return [written[row.run].message(row.role, source) for row, source in zip(rows, sources, strict=True)]

    def with_places(self, rows: Sequence[StoredMessage]) -> list[PlacedMessage]:
        messages = self.messages(rows)
        return [PlacedMessage(message, row.piece, row.digest) for row, message in zip(rows, messages, strict=True)]

    def begun(self, rows: Sequence[StoredMessage]) -> list[CoreMessage]:
        """Return messages to look at: of very long ones only the beginning is read (LongText). They may have no source."""
        short = iter(self.messages([row for row in rows if not _is_long(row)]))
        return [self._begun(row) if _is_long(row) else next(short) for row in rows]

    def parts(self, row: StoredMessage, wanted: range) -> Sequence[Part]:
        """Return some parts of one message, to look at; if it has very many, the others are not read."""
        window = self.part_window(row)
        found = window.parts(wanted) if window is not None else None
        if found is not None:
            return found
        return self.begun([row])[0].parts[wanted.start : wanted.stop]

    def part_window(self, row: StoredMessage) -> PartWindow | None:
        """Return a reader for some parts of a message that has very many, or None for other messages."""
        if not row.has_many_parts:
            return None
        texts = list(zip(*self._spans(row), strict=True))
        return PartWindow(self._format(row), row.digest, row.shape, texts)

    def _begun(self, row: StoredMessage) -> CoreMessage:
        spans, reads = self._spans(row)
        return begun(self._format(row), row.digest, row.shape, spans, reads) or self.messages([row])[0]

    def _spans(self, row: StoredMessage) -> tuple[list[SourceSpan], list[Read]]:
        """Return the spans of a message's source, and a reader for the text of each."""
        self._learn({row.run})
        spans = unpack_spans(row.source)
        body = self._bodies([row]).get((row.run, row.position), b"") if _has_own(spans) else b""
        return spans, texts_of(spans, body, self.upload(row.run) or _no_upload)

    def _format(self, row: StoredMessage) -> Format:
        return formats.get_format(self.runs[row.run][0])

    def sources(self, rows: Sequence[StoredMessage]) -> list[tuple[Fragment, ...]]:
        runs = {row.run for row in rows}
        self._learn(runs)
        reads = {run: self.upload(run) or _no_upload for run in runs}
        spans = [unpack_spans(row.source) for row in rows]
        own = [row for row, found in zip(rows, spans, strict=True) if _has_own(found)]
        bodies = self._bodies(own)
        self._prefetch(rows, spans)
        return [fragments(found, bodies.get((row.run, row.position), b""), reads[row.run]) for row, found in zip(rows, spans, strict=True)]

    def _prefetch(self, rows: Sequence[StoredMessage], spans: Sequence[list[SourceSpan]]) -> None:
        """Read the chunks of many small messages in one query."""
        wanted: dict[int, set[int]] = {}
        for row, found in zip(rows, spans, strict=True):
            upload = self.runs[row.run][1]
            if upload is not None:
                chunks = wanted.setdefault(upload, set())
                for span in found:
                    if span.start >= 0:
                        chunks.update(chunks_of(span.start - span.lead, span.start + span.length))
        for upload, chunks in wanted.items():
            if len(chunks) <= PREFETCHED:
                self._uploads.setdefault(upload, UploadReader(upload)).fetch(chunks)

    def upload(self, run: int) -> UploadReader | None:
        self._learn({run})
        upload_id = self.runs[run][1]
        if upload_id is None:
            return None
        return self._uploads.setdefault(upload_id, UploadReader(upload_id))

    def are_written(self, rows: Sequence[StoredMessage]) -> bool:
        """Return True if a step wrote any of them, and False if all were imported."""
        self._learn({row.run for row in rows})
        return any(self.runs[row.run][2] == Run.EDIT for row in rows)

    def _learn(self, runs: set[int]) -> None:
        missing = runs - self.runs.keys()
        if missing:
            found = Run.objects.filter(pk__in=missing).values_list("pk", "format", "upload_id", "kind")
            self.runs |= {pk: (format, upload, kind) for pk, format, upload, kind in found}

    def _bodies(self, rows: Sequence[StoredMessage]) -> dict[tuple[int, int], bytes]:
        pieces = [row.piece for row in rows if (row.run, row.position) not in self._ahead]
        read = {(run, position): content for run, position, content in read_bodies(pieces)}
        if len(read) <= FEW_BODIES:  # an edit asks for the same one several times
            self._ahead |= {place: content for place, content in read.items() if len(content) <= long_values.STEP}
        return self._ahead | read


def _has_own(spans: Sequence[SourceSpan]) -> bool:
    """Return True if part of a message is stored in a body of its own and not in an upload."""
    return min([span.start for span in spans], default=0) < 0


def _is_long(row: StoredMessage) -> bool:
    return stored_bytes(row.source) > long_values.STEP


def _no_upload(start: int, end: int) -> bytes:
    raise LookupError("a message points into an upload, but its run has none")


def read_batches(pieces: Iterable[Piece]) -> Iterator[list[StoredMessage]]:
    batch: list[StoredMessage] = []
    size = 0
    for row in read_rows(pieces):
        if batch and (len(batch) == BATCH or size + row.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += row.size
    if batch:
        yield batch


def read_placed(pieces: Iterable[Piece]) -> Iterator[PlacedMessage]:
    """Yield the messages of some pieces, a batch of bodies at a time."""
    bodies = BodyReader()
    for batch in read_batches(pieces):
        yield from bodies.with_places(batch)


def messages_of(snapshot: Snapshot) -> Iterator[CoreMessage]:
    return (each.message for each in read_placed(pieces_of(snapshot)))
