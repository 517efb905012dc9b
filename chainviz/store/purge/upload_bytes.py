"""Find values in the bytes of uploads, and blank them in place.

In a growing file, each upload is searched in its own bytes, and in as many bytes before them as the longest value has.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from django.db import models

from chainviz.core.documents.packed_files import EVAL, MARK
from chainviz.core.documents.wrapped.unwrap import WRAPPED
from chainviz.store.content.uploads import CHUNK, UploadReader, chunks_of
from chainviz.store.models import Upload, UploadChunk
from chainviz.store.purge.blanking import Blanks, Match

CHUNKS = 16
"""The number of chunks read at once (4 MB)."""


def count_in(upload: int, blanks: Blanks, told: Callable[[float], None]) -> int:
    """Return the number of occurrences in the upload's own bytes. Earlier bytes are counted with the uploads before it."""
    own = Upload.objects.values_list("start", flat=True).get(pk=upload) or 0
    return sum(1 for found in _matches(upload, blanks, told) if found.end > own)


def _matches(upload: int, blanks: Blanks, told: Callable[[float], None] = lambda done: None) -> Iterator[Match]:
    """Yield the occurrences in the upload's own bytes, and in the bytes just before them."""
    start = Upload.objects.values_list("start", flat=True).get(pk=upload) or 0
    first = max(0, start - blanks.reach) // CHUNK
    for found in blanks.find(_chunks(upload, first, told)):
        yield found._replace(start=found.start + first * CHUNK)


def _chunks(upload: int, first: int, told: Callable[[float], None]) -> Iterator[bytes]:
    """Yield an upload's bytes from a chunk on. Reads a few chunks at a time, because the caller changes rows meanwhile."""
    end = chunks_of(0, Upload.objects.values_list("length", flat=True).get(pk=upload)).stop
    for index in range(first, end, CHUNKS):
        for _, content in list(UploadReader(upload).chunks(index, index + CHUNKS - 1)):
            yield content
        told(min(1.0, (index + CHUNKS) / end))


class Stretches:
    """Byte ranges in which uploads of one base were changed."""

    def __init__(self) -> None:
        self._starts, self._ends = array("Q"), array("Q")

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, found: Match) -> None:
        self._starts.append(found.start)
        self._ends.append(found.end)

    @cached_property
    def _in_order(self) -> tuple[array[int], array[int]]:
        """The starts of all ranges, and the farthest end up to each. A later state of a file may begin before an earlier one ends."""
        ordered = sorted(zip(self._starts, self._ends, strict=True))
        return array("Q", (start for start, _ in ordered)), array("Q", accumulate((end for _, end in ordered), max))

    def touch(self, start: int, end: int) -> bool:
        starts, ends = self._in_order
        at = bisect_right(ends, start)
        return at < len(starts) and starts[at] < end


def blank_uploads(states: Sequence[Upload], blanks: Blanks) -> Stretches:
    changed = Stretches()
    for upload in states:
        writer = _ChunkWriter(states, upload)
        for found in _matches(upload.pk, blanks):
            if found.end > (upload.start or 0):
                changed.add(found)
                writer.write(found)
        writer.flush()
    if changed and states[0].encoding in (EVAL, WRAPPED):
        _blank_archive(states[0])
    return changed


def _blank_archive(upload: Upload) -> None:
    """Pack the compressed copy again from its blanked documents."""
    writer, start = _ChunkWriter((upload,), upload), len(MARK)
    for chunk in _chunks(upload.pk, 0, lambda done: None):
        content, quote, _ = chunk[start % CHUNK :].partition(b'"')
        writer.write(Match(start, b" " * len(content)))
        start += len(content)
        if quote:
            break
    writer.flush()


class _ChunkWriter:
    """Writes into an upload from start to end, and stores each chunk once. Bytes that an upload shares with an earlier one are written
    in the earlier one."""

    def __init__(self, states: Sequence[Upload], upload: Upload) -> None:
        self._starts = {each.pk: each.start or 0 for each in states if each.pk <= upload.pk}
        self._open: tuple[int, int] | None = None
        """The upload and the index of the current chunk."""
        self._content = bytearray()

    def write(self, found: Match) -> None:
        for upload, start, end in self._owners(found.start, found.end):
            for index in chunks_of(start, end):
                self._turn_to(upload, index)
                begin = max(index * CHUNK, self._starts[upload])
                first, last = max(start, begin), min(end, (index + 1) * CHUNK)
                blank = found.blank[first - found.start : last - found.start]
                self._content[first - begin : last - begin] = blank

    def _owners(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield the owner of each range of these bytes: the last upload that begins before it."""
        for upload, own in sorted(self._starts.items(), reverse=True):
            if own < end:
                yield upload, max(start, own), end
                end = max(start, own)
            if end <= start:
                return

    def _turn_to(self, upload: int, index: int) -> None:
        if self._open != (upload, index):
            self.flush()
            self._open = upload, index
            self._content = bytearray(self._rows().values_list("content", flat=True).get())

    def flush(self) -> None:
        if self._open:
            self._rows().update(content=bytes(self._content))

    def _rows(self) -> models.QuerySet[UploadChunk]:
        assert self._open is not None
        return UploadChunk.objects.filter(upload=self._open[0], index=self._open[1])
