"""Uploads: the bytes of a file, stored once per owner and read by offset.

A file that grows, such as the session of an agent, is uploaded again and again. Each upload holds the bytes that differ
from those of the one before it: from `start` on it overlays the earlier uploads of the same `base`, in the order of
their keys. Nothing else about such an upload differs: its digest and its offsets are those of the whole file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from itertools import groupby
from operator import itemgetter

from django.db import IntegrityError, connection
from django.db.models import Exists, OuterRef, Q, QuerySet

from chainviz.core.documents.source import Source
from chainviz.core.documents.written_file import written
from chainviz.store.content.message_shapes import clean
from chainviz.store.content.runs import Batch, insert_many
from chainviz.store.models import Run, Upload, UploadChunk

CHUNK = 256 * 1024
HELD_CHUNKS = 16
WRITTEN_CHUNKS = 32
"""The number of chunks written in one transaction (8 MB)."""
LATER = 200
"""The most uploads with one base. The next one is stored whole, so that a chunk never has very many rows."""
_CHUNKS = """
    SELECT chunk."index", chunk.upload_id, part.start, chunk.content
    FROM store_uploadchunk chunk JOIN store_upload part ON part.id = chunk.upload_id
    WHERE chunk.upload_id IN (
        SELECT id FROM store_upload WHERE id = %s
        UNION ALL SELECT base_id FROM store_upload WHERE id = %s
        UNION ALL SELECT other.id FROM store_upload AS upload JOIN store_upload AS other
            ON other.base_id = upload.base_id AND other.id < upload.id WHERE upload.id = %s
    ) AND chunk."index" IN ({marks})
"""
"""Reads the chunks of an upload and of the uploads that it overlays, in any order: sorted by the database, their content would be
copied. It is SQL because the ORM would take longer than the database."""


def upload_of(source: Source, *, owner: str, filename: str = "", before: Upload | None = None) -> Upload:
    """Return the upload of these bytes: an existing one of the owner, or a new one whose chunks `fill` writes.

    `before` is the previous upload of the same file.
    """
    base, start = _grown_from(before, source) if before is not None else (None, None)
    # locked, so that a purge, which changes the digest, either waits or has finished
    upload, _ = Upload.objects.select_for_update().get_or_create(
        owner=owner,
        sha256=source.sha256,
        defaults={
            "size": source.original_size,
            "length": source.size,
            "filename": clean(filename),
            "encoding": source.encoding,
            "bom": source.bom,
            "base": base,
            "start": start,
        },
    )
    return upload


def _grown_from(before: Upload, source: Source) -> tuple[Upload | None, int | None]:
    """Return the base and start of a later state of a file; (None, None) if the file must be stored whole."""
    base = Upload.objects.select_for_update().get(pk=before.base_id or before.pk)
    states = list(together(base))
    if states[-1] != before or len(states) >= LATER or not is_whole(before):
        return None, None
    if {before.encoding, source.encoding} != {"utf-8"} or not source.size:
        return None, None
    start = min(_same_beginning(before, source), source.size - 1)
    return (base, start) if 2 * start >= before.length else (None, None)


def _same_beginning(before: Upload, source: Source) -> int:
    """Return the number of equal bytes at the beginning of both."""
    for index, old in UploadReader(before.pk).chunks():
        new = source.read(index * CHUNK, (index + 1) * CHUNK)
        if old != new:
            low, high = 0, min(len(old), len(new))
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
            return index * CHUNK + low
    return before.length


def together(upload: Upload) -> QuerySet[Upload]:
    """Return the upload and all others with the same base, oldest first."""
    base = upload.base_id or upload.pk
    return Upload.objects.filter(Q(pk=base) | Q(base=base)).order_by("pk")


def with_all_states(uploads: Iterable[int]) -> frozenset[int]:
    """Return the keys of these uploads and of all others with the same bases."""
    named = frozenset(uploads)
    bases = {base or pk for pk, base in Upload.objects.filter(pk__in=named).values_list("pk", "base")}
    return named | bases | set(Upload.objects.filter(base__in=bases).values_list("pk", flat=True))


def unused(uploads: Iterable[int]) -> list[Upload]:
    """Return the uploads, among these and others with the same bases, that nothing uses, newest first. An upload is used if a later
    one that overlays it is."""
    with_runs = Exists(Run.objects.filter(upload=OuterRef("pk")))
    states = Upload.objects.filter(pk__in=with_all_states(uploads)).annotate(has_runs=with_runs).order_by("-pk")
    found: list[Upload] = []
    read: set[int] = set()
    for upload in states:
        if upload.has_runs or (upload.base_id or upload.pk) in read:
            read.add(upload.base_id or upload.pk)
        else:
            found.append(upload)
    return found


def digests(states: Iterable[Upload]) -> Iterator[tuple[Upload, str, int]]:
    """Yield the digest and size of each upload of a base, computed from its original bytes. The common beginning of a growing file is
    hashed once."""
    digest, size, end = sha256(), 0, 0
    for upload in states:
        if upload.encoding != "utf-8" or upload.start != end or not end:
            digest, size, end = sha256(), 0, 0
        for piece in written(_behind(upload, end), upload.encoding):
            digest.update(piece)
            size += len(piece)
        end = upload.length
        yield upload, digest.hexdigest(), size


def _behind(upload: Upload, start: int) -> Iterator[bytes]:
    for index, content in UploadReader(upload.pk).chunks(start // CHUNK):
        yield content[max(0, start - index * CHUNK) :]


def own_chunks(upload: Upload) -> range:
    return chunks_of(upload.start or 0, upload.length)


def fill(upload: Upload, source: Source, batch: Batch) -> None:
    """Write the bytes, each batch in its own transaction. Another import of the same file may have written some chunks, or be writing them
    now. Chunks are written in order, so the last one shows where to continue."""
    while left := own_chunks(upload)[upload.chunks.count() :]:
        try:
            with batch():
                _write(upload, source, left[:WRITTEN_CHUNKS])
        except IntegrityError:
            if own_chunks(upload)[upload.chunks.count() :] == left:
                raise


def is_whole(upload: Upload) -> bool:
    return upload.chunks.count() == len(own_chunks(upload))


def _write(upload: Upload, source: Source, indexes: Iterable[int]) -> None:
    for index in indexes:
        content = source.read(max(index * CHUNK, upload.start or 0), min((index + 1) * CHUNK, upload.length))
        insert_many(UploadChunk, ["upload_id", "index", "content"], [(upload.pk, index, content)])


def chunks_of(start: int, end: int) -> range:
    """Return the indexes of the chunks that contain the bytes `start:end`."""
    return range(start // CHUNK, -(-end // CHUNK))


class UploadReader:
    """Reads bytes of an upload by offset, and caches the last chunks."""

    def __init__(self, upload_id: int) -> None:
        self.upload_id = upload_id
        self._held: OrderedDict[int, bytes] = OrderedDict()

    def __call__(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        first, last = start // CHUNK, (end - 1) // CHUNK
        if last - first >= HELD_CHUNKS:
            parts = [chunk for _, chunk in self.chunks(first, last)]
        elif first == last and first in self._held:
            return self._held[first][start - first * CHUNK : end - first * CHUNK]
        else:
            self.fetch(range(first, last + 1))
            parts = [self._held[index] for index in range(first, last + 1)]
        # cut before they are joined, since a slice of the whole is one more copy of it
        parts[-1] = parts[-1][: end - last * CHUNK]
        parts[0] = parts[0][start - first * CHUNK :]
        return b"".join(parts)

    def fetch(self, indexes: range | set[int]) -> None:
        """Read these chunks in one query, unless they are in memory."""
        missing = [index for index in indexes if index not in self._held]
        for index in indexes:
            if index in self._held:
                self._held.move_to_end(index)
        if missing:
            self._held |= self._read(missing)
        while len(self._held) > max(HELD_CHUNKS, len(indexes)):
            self._held.popitem(last=False)

    def chunks(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, bytes]]:
        upload = Upload.objects.get(pk=self.upload_id)
        if upload.base_id is not None:
            end = chunks_of(0, upload.length).stop if last is None else last + 1
            for start in range(first, end, HELD_CHUNKS):
                # otherwise the database would sort all chunks with their content
                yield from self._read(range(start, min(start + HELD_CHUNKS, end)))
            return
        rows = UploadChunk.objects.filter(upload=self.upload_id, index__gte=first).order_by("index")
        if last is not None:
            rows = rows.filter(index__lte=last)
        for index, content in rows.values_list("index", "content").iterator(chunk_size=16):
            yield index, bytes(content)

    def _read(self, indexes: Collection[int]) -> Iterator[tuple[int, bytes]]:
        marks = ", ".join(["%s"] * len(indexes))
        with connection.cursor() as cursor:
            cursor.execute(_CHUNKS.format(marks=marks), [self.upload_id] * 3 + [*indexes])
            rows = sorted(cursor.fetchall(), key=itemgetter(0, 1))
        for index, parts in groupby(rows, key=itemgetter(0)):
            content = b""
            for _, _, start, part in parts:
                kept = max(0, (start or 0) - index * CHUNK)
                content = content[:kept] + bytes(part) if kept else bytes(part)
            yield index, content
