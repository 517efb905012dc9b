"""Write the UTF-8 text of a file back in the form of its upload: text in its own encoding, or an archive."""

from __future__ import annotations

import base64
import codecs
import json
import tempfile
from binascii import Error as NoBase64
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from itertools import zip_longest
from typing import IO

from chainviz.core.documents.json.scan import Window, skip_space, skip_value
from chainviz.core.documents.packed_files import EVAL, MARK, repacked, unpacked
from chainviz.core.documents.source import CHUNK, Source
from chainviz.core.documents.units import Span
from chainviz.core.documents.wrapped.unwrap import WRAPPED, is_as_read, write_documents

_HELD = 1 << 24


IsOf = Callable[[IO[bytes], IO[bytes]], bool]
"""A function that returns True if a text was read from an archive and is unchanged."""
Pack = Callable[[IO[bytes], Iterable[tuple[str, Iterator[bytes]]]], None]


def written(chunks: Iterable[bytes], encoding: str, *, is_rewritten: bool = False) -> Iterator[bytes]:
    """Yield UTF-8 chunks in the encoding of the upload that they replace.

    If the documents of an archive or wrapper are unchanged, the original file is returned byte for byte. Otherwise an archive is packed
    again, and unwrapped JSON is written on its own. With `is_rewritten`, something was removed from the text, so a wrapper is never
    returned: it may still contain what was removed.
    """
    if encoding == "utf-8":
        yield from chunks
    elif encoding == WRAPPED and is_rewritten:
        yield from _packed(chunks, lambda archive, text: False, write_documents)
    elif encoding in _PACKINGS:
        yield from _packed(chunks, *_PACKINGS[encoding])
    else:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogatepass")
        for chunk in chunks:
            yield decoder.decode(chunk).encode(encoding, "surrogatepass")
        yield decoder.decode(b"", final=True).encode(encoding, "surrogatepass")


def _packed(chunks: Iterable[bytes], is_of: IsOf, pack: Pack) -> Iterator[bytes]:
    with tempfile.SpooledTemporaryFile(max_size=_HELD) as text, tempfile.SpooledTemporaryFile(max_size=_HELD) as archive:
        text.writelines(chunks)
        end = _take_archive(text, archive)
        if not (archive.tell() and is_of(archive, text)):
            archive.seek(0)
            archive.truncate()
            source = Source(text, text.seek(0, 2), encoding="utf-8", original_size=0, sha256=None)
            pack(archive, _documents(source, end))
        yield from _from_start(archive)


def _take_archive(text: IO[bytes], archive: IO[bytes]) -> int:
    """Copy the stored ZIP out of the text. Return the offset of its end in the text."""
    end = text.seek(len(MARK))
    while chunk := text.read(CHUNK):
        content, quote, _ = chunk.partition(b'"')
        end += len(content)
        with suppress(NoBase64):
            archive.write(base64.b64decode(content, validate=True))
        if quote:
            break
    return end


def _unpacks_to(archive: IO[bytes], text: IO[bytes]) -> bool:
    again = unpacked(archive)
    if again is None:
        return False
    with closing(again):
        return all(one == other for one, other in zip_longest(_from_start(again), _from_start(text)))


_PACKINGS: dict[str, tuple[IsOf, Pack]] = {EVAL: (_unpacks_to, repacked), WRAPPED: (is_as_read, write_documents)}


def _from_start(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(CHUNK):
        yield chunk


def _documents(source: Source, start: int) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield the name and content of each document in the text after byte `start`."""
    spans = list(_spans(Window(source, start, source.size)))
    names = json.loads(source.read(spans[0].start, spans[0].end))
    for name, span in zip(names, spans[1:], strict=True):
        yield name, _pieces(source, span)


def _pieces(source: Source, span: Span) -> Iterator[bytes]:
    for start in range(span.start, span.end, CHUNK):
        yield source.read(start, min(start + CHUNK, span.end))


def _spans(window: Window) -> Iterator[Span]:
    """Yield the span of the list of names, then that of each document in the two lists after it."""
    position = window.text.index("[")
    start = window.offset(position)
    position = skip_value(window, position + 1)
    yield Span(start, window.offset(position))
    for _ in range(2):
        position = window.ahead(position, 1 << 8)
        position = skip_space(window, window.text.index("[", position) + 1)
        while window.text[position] != "]":
            start = window.offset(position)
            position = skip_value(window, position + 1)
            yield Span(start, window.offset(position))
            position = skip_space(window, position)
            if window.text[position] == ",":
                position = skip_space(window, position + 1)
