"""Uploads: the bytes of a file, stored once per owner and read by offset."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from django.db import IntegrityError

from chainviz.core.documents.source import Source
from chainviz.store.content.message_shapes import clean
from chainviz.store.content.runs import Batch, insert_many
from chainviz.store.models import Upload, UploadChunk

CHUNK = 256 * 1024
HELD_CHUNKS = 16
WRITTEN_CHUNKS = 32
"""In one transaction: 8 MB."""


def upload_of(source: Source, *, owner: str, filename: str = "") -> Upload:
    """Returns the row of these bytes, which the owner may have already. Its chunks are written by `fill`."""
    # locked, so that a purge that changes the digest of the bytes either waits or is over
    upload, _ = Upload.objects.select_for_update().get_or_create(
        owner=owner,
        sha256=source.sha256,
        defaults={
            "size": source.original_size,
            "length": source.size,
            "filename": clean(filename),
            "encoding": source.encoding,
            "bom": source.bom,
        },
    )
    return upload


def fill(upload: Upload, source: Source, batch: Batch) -> None:
    """Writes the bytes, each batch in a transaction of its own. Another import of the same file may have written some, or be
    writing them now: chunks are written in order, so the last one shows where to continue."""
    while (first := upload.chunks.count()) < chunks_of(0, upload.length).stop:
        try:
            with batch():
                _write(upload, source, first)
        except IntegrityError:
            if upload.chunks.count() == first:
                raise


def is_whole(upload: Upload) -> bool:
    return upload.chunks.count() == chunks_of(0, upload.length).stop


def _write(upload: Upload, source: Source, first: int) -> None:
    for index in range(first, min(first + WRITTEN_CHUNKS, chunks_of(0, upload.length).stop)):
        content = source.read(index * CHUNK, min((index + 1) * CHUNK, upload.length))
        insert_many(UploadChunk, ["upload_id", "index", "content"], [(upload.pk, index, content)])


def chunks_of(start: int, end: int) -> range:
    """Returns the chunks in which the bytes `start:end` lie."""
    return range(start // CHUNK, -(-end // CHUNK))


class UploadReader:
    """Reads bytes of an upload by offset; keeps the last chunks."""

    def __init__(self, upload_id: int) -> None:
        self.upload_id = upload_id
        self._held: OrderedDict[int, bytes] = OrderedDict()

    def __call__(self, start: int, end: int) -> bytes:
        if end <= start:
            return b""
        first, last = start // CHUNK, (end - 1) // CHUNK
        if last - first >= HELD_CHUNKS:
            content = b"".join(chunk for _, chunk in self.chunks(first, last))
        else:
            self.fetch(range(first, last + 1))
            content = b"".join(self._held[index] for index in range(first, last + 1))
        return content[start - first * CHUNK : end - first * CHUNK]

    def fetch(self, indexes: range | set[int]) -> None:
        """Reads these chunks in one query, unless they are in memory."""
        missing = [index for index in indexes if index not in self._held]
        for index in indexes:
            if index in self._held:
                self._held.move_to_end(index)
        if missing:
            rows = UploadChunk.objects.filter(upload=self.upload_id, index__in=missing)
            for index, content in rows.values_list("index", "content"):
                self._held[index] = bytes(content)
        while len(self._held) > max(HELD_CHUNKS, len(indexes)):
            self._held.popitem(last=False)

    def chunks(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, bytes]]:
        rows = UploadChunk.objects.filter(upload=self.upload_id, index__gte=first).order_by("index")
        if last is not None:
            rows = rows.filter(index__lte=last)
        for index, content in rows.values_list("index", "content").iterator(chunk_size=16):
            yield index, bytes(content)
