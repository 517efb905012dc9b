"""Read the bytes of an upload in pieces, as UTF-8, from any supported encoding or compression. Knows nothing of JSON.

A byte order mark is the first character of the text, so offsets need no exception for it.
"""

from __future__ import annotations

import codecs
import hashlib
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import IO

from chainviz.core.documents import opencode_storage
from chainviz.core.documents.packed_files import EVAL, MAGIC, MAX_DECOMPRESSED, compression_of, decompressed_file, unpacked
from chainviz.core.documents.wrapped.kinds import MOST
from chainviz.core.documents.wrapped.unwrap import HEAD, WRAPPED, may_be_wrapped, read_wrapped
from chainviz.core.errors import DocumentError

CHUNK = 1 << 20
BEGINNING = 1 << 16
"""The number of bytes at the start of a file that stay in memory."""
DATABASE_MAGIC = b"SQLite format 3\x00"
_BOM = "\ufeff".encode()
_CONTINUATION = bytes(range(0x80, 0xC0))
"""Bytes that continue a character; all other bytes begin one."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (MAGIC, "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
)


class Source:
    """An upload as UTF-8 text. Use it as a context manager. Offsets count bytes of the UTF-8 text."""

    names: tuple[str, ...] = ()
    """The names of the documents that were extracted from the upload."""
    notice: str = ""
    """A sentence for the user about how the file was read."""
    is_wrapped = False
    """The text is JSON that was extracted from the upload, without what surrounds it, or without the chunks of streamed answers."""

    def __init__(self, file: IO[bytes], size: int, *, encoding: str, original_size: int, sha256: str | None) -> None:
        self._file = file
        self.size = size
        self.encoding = encoding
        self.original_size = original_size
        self._sha256 = sha256
        self._beginning = b""
        self._beginning = self.read(0, min(size, BEGINNING))
        self.bom = self._beginning.startswith(_BOM)
        self._counted = (len(_BOM) if self.bom else 0, 1, 1)

    def __enter__(self) -> Source:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def read(self, start: int, end: int) -> bytes:
        if min(end, self.size) <= len(self._beginning):
            return self._beginning[start:end]  # because each format reads it
        self._file.seek(start)
        return self._file.read(max(0, end - start))

    def text(self, start: int, end: int) -> str:
        """Return bytes `start:end` as text. Bytes that are not UTF-8 become surrogate escapes."""
        return self.read(start, end).decode("utf-8", "surrogateescape")

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """Yield the whole UTF-8 text in pieces of `size` bytes."""
        for start in range(0, self.size, size):
            yield self.read(start, min(start + size, self.size))

    @property
    def text_encoding(self) -> str:
        """The encoding of the documents in the file. Documents that were extracted from an archive are UTF-8."""
        return "utf-8" if self.is_archive else self.encoding

    @property
    def is_archive(self) -> bool:
        return self.encoding in (EVAL, WRAPPED)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes as they were uploaded, not of their UTF-8 form."""
        if self._sha256 is not None:
            return self._sha256
        digest = hashlib.sha256()
        for chunk in self.chunks():
            digest.update(chunk)
        return digest.hexdigest()

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and column of a byte, both from 1. Columns count characters."""
        begin, line, column = self._counted if self._counted[0] <= offset else (len(_BOM) if self.bom else 0, 1, 1)
        for start in range(begin, offset, CHUNK):
            chunk = self.read(start, min(start + CHUNK, offset))
            breaks = chunk.count(b"\n")
            if breaks:
                line, column = line + breaks, 1
                chunk = chunk[chunk.rindex(b"\n") + 1 :]
            column += len(chunk.translate(None, _CONTINUATION))
        # for rising offsets, all calls together read the file once
        self._counted = (max(offset, begin), line, column)
        return line, column


def open_source(origin: Path | str | bytes, most: int = MAX_DECOMPRESSED) -> Source:
    """Open a file or bytes. Raises DocumentError if the bytes cannot be a transcript.

    A compressed file is opened as its content, which may have at most `most` bytes. An agent's database is opened as the JSON of its
    sessions, or of one session for a path such as `opencode.db#ses_1`.
    """
    if isinstance(origin, Path) and "#" in origin.name and (source := _session_at(origin)):
        return source
    if isinstance(origin, Path) and opencode_storage.is_session(origin):
        source = open_source(opencode_storage.document_of(origin), most)
        source.notice = f"{opencode_storage.NOTICE} {source.notice}".strip()
        return source
    file: IO[bytes]
    if isinstance(origin, bytes):
        file = tempfile.SpooledTemporaryFile(max_size=1 << 26)  # noqa: SIM115
        file.write(origin)
        size = len(origin)
    else:
        try:
            file = Path(origin).open("rb")  # noqa: SIM115
            size = file.seek(0, 2)
        except (OSError, ValueError) as error:  # ValueError: a name that no file can have
            raise DocumentError(f"{origin} cannot be opened: {getattr(error, 'strerror', None) or error}.") from None
    try:
        return _inside(file, most) or _in_database(file, origin, most) or _as_utf8(file, size)
    except BaseException:
        file.close()
        raise


def _inside(file: IO[bytes], most: int) -> Source | None:
    """Return the content of a compressed file; None if the file is not compressed."""
    file.seek(0)
    compression = compression_of(file.read(4))
    if compression is None:
        return None
    text = decompressed_file(file, compression, most)
    try:
        source = _as_utf8(text, text.tell())
    except BaseException:
        text.close()
        raise
    file.close()
    notice = f"The file was compressed with {compression.label}; chainviz keeps and exports the file inside it."
    source.notice = f"{notice} {source.notice}".strip()
    return source


def _in_database(file: IO[bytes], origin: Path | str | bytes, most: int) -> Source | None:
    """Return the sessions of an agent's database; None for any other file."""
    file.seek(0)
    if file.read(len(DATABASE_MAGIC)) != DATABASE_MAGIC:
        return None
    from chainviz.core.databases.text import database_text  # imported late because it loads sqlite3

    with tempfile.NamedTemporaryFile(prefix="chainviz-", suffix=".db") as copy:
        if isinstance(origin, bytes):
            copy.write(origin)
            copy.flush()
        text = database_text(Path(copy.name if isinstance(origin, bytes) else origin), most)
    file.close()
    return _session_text(text, "its sessions were")


def _session_at(address: Path) -> Source | None:
    """Return one session of a database; None for the path of a file."""
    from chainviz.core.databases.text import session_at, session_text

    session = session_at(address)
    return _session_text(session_text(*session), "the session was") if session else None


def _session_text(text: tuple[IO[bytes], str], said: str) -> Source:
    file, label = text
    source = Source(file, file.tell(), encoding="utf-8", original_size=file.tell(), sha256=None)
    source.notice = f"This is a database of {label}: {said} read as its export writes them, and chainviz keeps that JSON."
    return source


def _tail(file: IO[bytes], size: int) -> bytes:
    """Return the end of a file, without the bytes of its head. Moves the read position of the file."""
    file.seek(max(HEAD, size - HEAD))
    return file.read(HEAD)


def _as_utf8(file: IO[bytes], size: int) -> Source:
    file.seek(0)
    head = file.read(4096)
    text = unpacked(file) if head.startswith(MAGIC) else None
    if text is not None:
        return _unpacked(file, size, text, EVAL)
    encoding = _encoding(head)
    if encoding == "utf-8":
        _refuse_binary(head)
        file.seek(0)
        if size <= MOST and may_be_wrapped(file.read(HEAD), _tail(file, size)) and (found := read_wrapped(file)):
            source = _unpacked(file, size, found[0], WRAPPED)
            source.names, source.notice = tuple(name for name, _ in found[1].documents), found[1].notice
            source.is_wrapped = True
            return source
        return Source(file, size, encoding=encoding, original_size=size, sha256=None)
    converted: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=1 << 24)  # noqa: SIM115
    digest = hashlib.sha256()
    decoder = codecs.getincrementaldecoder(encoding)("surrogatepass")
    file.seek(0)
    try:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            converted.write(decoder.decode(chunk).encode("utf-8", "surrogatepass"))
        converted.write(decoder.decode(b"", final=True).encode("utf-8", "surrogatepass"))
    except UnicodeDecodeError as error:
        converted.close()
        raise DocumentError(
            f"The file begins as {encoding.upper()} text but is broken near byte {error.start}; save it as UTF-8 and upload it again."
        ) from None
    file.close()
    return Source(converted, converted.tell(), encoding=encoding, original_size=size, sha256=digest.hexdigest())


def _unpacked(file: IO[bytes], size: int, text: IO[bytes], encoding: str) -> Source:
    digest = hashlib.sha256()
    file.seek(0)
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    file.close()
    return Source(text, text.tell(), encoding=encoding, original_size=size, sha256=digest.hexdigest())


def _encoding(head: bytes) -> str:
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    # UTF-16 without a mark: JSON begins with two ASCII characters, so every other byte is zero
    if len(head) >= 4 and len(head) % 2 == 0:
        if head[0] and not head[1] and head[2] and not head[3]:
            return "utf-16-le"
        if not head[0] and head[1] and not head[2] and head[3]:
            return "utf-16-be"
    return "utf-8"


def _refuse_binary(head: bytes) -> None:
    for magic, what in _BINARY:
        if head.startswith(magic):
            hint = "unpack it and upload the file inside" if "archive" in what else "upload the JSON or JSON Lines file itself"
            raise DocumentError(f"This is {what}, not a transcript; {hint}.")
    if head[257:262] == b"ustar":
        raise DocumentError("This is a tar archive, not a transcript; unpack it and upload the file inside.")
    if not head.strip(b"\0") and head:
        raise DocumentError("The file is full of zero bytes: its content was lost before the upload.")
