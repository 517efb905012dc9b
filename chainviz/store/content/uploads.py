"""Uploads: a file's bytes, stored once an owner, read back by offset."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from django.db import IntegrityError

from chainviz.core.documents.source import Source
from chainviz.store.content.bulk_insert import insert_many
from chainviz.store.content.message_shapes import clean
from chainviz.store.models import Upload, UploadChunk

CHUNK = 256 * 1024
HELD_CHUNKS = 16
WRITTEN_CHUNKS = 32
"""In one transaction: 8 MB."""


def upload_of(source: Source, *, owner: str, filename: str = "") -> Upload:
    """The row for these bytes; one that the owner has already is used again. It holds what `fill` brings."""
    # held, so that a purge which gives the bytes another digest either waits or has done it
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


def fill(upload: Upload, source: Source, batch: Callable[[], AbstractContextManager[None]]) -> None:
    """The bytes, each batch in a transaction of its own. Another import of the same file may have written some, or be
    about it just now: chunks are written in order, so the last one there says where to go on."""
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
    """The chunks in which the bytes `start:end` lie."""
    return range(start // CHUNK, -(-end // CHUNK))


class UploadReader:
    """Bytes of an upload by offset; keeps the chunks read last."""

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
        """Have these chunks at hand, in one query."""
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
