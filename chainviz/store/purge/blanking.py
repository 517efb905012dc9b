"""Find values in the bytes of uploads, and replace them by as many other bytes, so that no offset of a document changes."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from django.db import models

from chainviz.core.documents.packed_files import EVAL, MARK
from chainviz.core.documents.wrapped.unwrap import WRAPPED
from chainviz.core.secrets.known_values import Words
from chainviz.core.secrets.spellings import Decoded, base64_of, rounds
from chainviz.store.content.uploads import CHUNK, UploadReader, chunks_of
from chainviz.store.models import Upload, UploadChunk

_DIGITS = re.compile(rb"[0-9.]+")
SPELLED = 4
"""A spelling is searched up to this many times the length of its value …"""
LONGEST_ESCAPE = 1 << 16
"""… and this many bytes."""
CONTEXT = 64


class Match(NamedTuple):
    """The place of a value, in any spelling, and the bytes that may replace it."""

    start: int
    blank: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.blank)


class Blanks:
    """Values, compared both raw and decoded: escapes of JSON, addresses and HTML at any depth, base64, hex."""

    def __init__(self, values: Iterable[str]) -> None:
        words = {word for value in values for word in _bytes_of(value)}
        self._words = Words({spelling for word in words for spelling in _spellings(word)})
        self._codes = Words({letters.encode() for word in words for letters in base64_of(word)})
        self.reach = SPELLED * max(self._words.longest, self._codes.longest) + LONGEST_ESCAPE

    def find(self, pieces: Iterable[bytes]) -> Iterator[Match]:
        """Yield every place of every value, also across pieces; those inside others are left out."""
        held, before, covered = b"", 0, 0
        for piece, is_last in _with_end(pieces):
            held += piece
            if len(held) < 2 * self.reach and not is_last:
                continue  # long values in short pieces: each byte is looked at twice, not again with every piece
            decoded = rounds(held)
            # what begins later might go on in the next piece
            sure = len(held) if is_last else max(0, len(held) - self.reach)
            for start, end, is_code in sorted(self._places(held, decoded)):
                if start < sure and before + end > covered:
                    covered = before + end
                    yield Match(before + start, _blank(held[start:end], is_code))
            # an escape of an escape may reach over the cut
            cut = max(0, sure - CONTEXT)
            held, before = held[cut:], before + cut

    def _places(self, held: bytes, decoded: list[Decoded]) -> Iterator[tuple[int, int, bool]]:
        """Start, end, and whether it is base64."""
        contents = [held, *(each.content for each in decoded)]
        for number, content in enumerate(contents):
            for start, word in self._words.occurrences(content):
                yield *_source(decoded[:number], start, start + len(word)), False
        joined = Decoded(contents[-1], wrapped=True)
        for start, word in self._codes.occurrences(joined.content):
            yield *_source([*decoded, joined], start, start + len(word)), True

    def blank(self, content: bytes) -> bytes:
        blanked = None
        for found in self.find((content,)):
            blanked = blanked or bytearray(content)
            blanked[found.start : found.end] = found.blank
        return content if blanked is None else bytes(blanked)

    def text(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        blanked = self.blank(content)
        return text if blanked == content else blanked.decode("utf-8", "surrogatepass")

    def plain(self, value: object) -> object:
        """Blank the texts in JSON values, including keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            return {self.plain(key): self.plain(item) for key, item in value.items()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            return value if self.text(str(value)) == str(value) else 0
        return value

    def count(self, pieces: Iterable[bytes]) -> int:
        return sum(1 for _ in self.find(pieces))


def _with_end(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Yield each piece, and at the end an empty one with True."""
    for piece in pieces:
        yield piece, False
    yield b"", True


def _source(decoded: list[Decoded], start: int, end: int) -> tuple[int, int]:
    for each in reversed(decoded):
        start, end = each.source(start, end)
    return start, end


def _spellings(word: bytes) -> Iterator[bytes]:
    """Yield the spellings of a value: plain, decoded, with a form's `+` for spaces, and as hexadecimal digits."""
    last = ([word] + [each.content for each in rounds(word)])[-1]
    yield from (word, last, last.replace(b" ", b"+"), word.hex().encode(), word.hex().upper().encode())


def _bytes_of(value: str) -> set[bytes]:
    found = set()
    for errors in ("surrogatepass", "surrogateescape"):
        with suppress(UnicodeEncodeError):
            found.add(value.encode("utf-8", errors))
    return found - {b""}


def is_blank(value: str) -> bool:
    """Return True if the value is one that a purge inserted."""
    word = value.encode("utf-8", "surrogatepass")
    return word != b"" and word in (_blank(word, False), _blank(word, True))


def _blank(word: bytes, is_code: bool) -> bytes:
    """Return what may replace the word everywhere: in a JSON text, as a bare number, in an address, in base64."""
    if is_code:
        return b"A" * len(word)
    return (b"1" if _DIGITS.fullmatch(word) else b"x") * len(word)


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
