"""Files compressed with gzip (RFC 1952) or Zstandard (RFC 8878), such as Codex's `rollout-….jsonl.zst`, and ZIP archives.

An archive is Inspect's `.eval`, or has transcripts and agent databases, which are read one at a time.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from chainviz.core.errors import DocumentError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_DECOMPRESSED = 1_000_000_000
"""The default limit for the decompressed size of a file, in bytes. It equals the default limit for uploads."""
CHUNK = 1 << 18
_HELD = 1 << 24
_ENDINGS = re.compile(r"(?<=[^/])\.(?:gz|zstd?)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Compression:
    label: str
    magic: re.Pattern[bytes]
    reader: Callable[[IO[bytes]], gzip.GzipFile | zstd.ZstdFile]
    compress: Callable[[bytes], bytes]


COMPRESSIONS = (
    Compression("gzip", re.compile(rb"\x1f\x8b\x08"), lambda file: gzip.GzipFile(fileobj=file, mode="rb"), partial(gzip.compress, mtime=0)),
    # a Zstandard file may begin with a skippable frame, as pzstd writes it
    Compression("Zstandard", re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"), zstd.ZstdFile, zstd.compress),
)


def compression_of(head: bytes) -> Compression | None:
    """Return the compression of a file that begins with these bytes; None if it is not compressed."""
    return next((each for each in COMPRESSIONS if each.magic.match(head)), None)


def plain_name(name: str) -> str:
    """Return the name of the decompressed file: `rollout.jsonl` for `rollout.jsonl.zst`."""
    return _ENDINGS.sub("", name)


def decompressed_file(file: IO[bytes], compression: Compression, most: int = MAX_DECOMPRESSED) -> IO[bytes]:
    """Decompress a file into a temporary one. Raises DocumentError if it is truncated or damaged, or exceeds `most` bytes."""
    text: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_HELD)  # noqa: SIM115
    try:
        for chunk in _chunks(file, compression):
            if text.tell() + len(chunk) > most:
                raise DocumentError(
                    f"The {compression.label} file decompresses to more than {most / 1e6:,.0f} MB; "
                    "decompress it and take out the part that you need."
                )
            text.write(chunk)
    except BaseException:
        text.close()
        raise
    return text


def decompressed(content: bytes, compression: Compression) -> bytes:
    """Return the content of a compressed file. Raises the errors of `decompressed_file`."""
    with decompressed_file(io.BytesIO(content), compression) as text:
        text.seek(0)
        return text.read()


def beginning(path: Path, size: int) -> bytes:
    """Return the first `size` bytes of a file, decompressed. A damaged file gives only the bytes before the damage. Raises OSError."""
    found = bytearray()
    with path.open("rb") as file, suppress(DocumentError):
        head = file.read(size)
        compression = compression_of(head)
        if compression is None:
            return head
        for chunk in _chunks(file, compression):
            found += chunk
            if len(found) >= size:
                break
    return bytes(found[:size])


def holds_more(path: Path, size: int) -> bool:
    """Return True if the decompressed content of a file is larger than `size` bytes. Raises OSError."""
    return len(beginning(path, size + 1)) > size


def _chunks(file: IO[bytes], compression: Compression) -> Iterator[bytes]:
    file.seek(0)
    try:
        reader = compression.reader(file)
        while chunk := reader.read(CHUNK):
            yield chunk
    except EOFError:
        raise DocumentError(f"The {compression.label} file is cut off; get the whole file.") from None
    except (zstd.ZstdError, zlib.error, gzip.BadGzipFile) as error:
        reason = str(error)[:120].rstrip(".")
        raise DocumentError(f"The {compression.label} file cannot be decompressed ({reason}); get an undamaged copy.") from None


# Inspect's `.eval` archives are a ZIP of JSON documents. They are read as one JSON text:
# {"archive": "<the ZIP in base64>", "names": [...], "samples": [<samples/*.json>], "members": [<the others>]}
# Each document keeps every byte. The ZIP is stored too, because no library compresses the documents to the same bytes again.
# Members may be deflated or Zstandard-compressed (inspect_ai `_util/zipfile.py`).


if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

EVAL = "inspect-eval"
"""The encoding name of a source that was read from an eval log."""
MAGIC = b"PK\x03\x04"
MARK = b'{"archive": "'
"""The text before the ZIP, which ends at the next quotation mark."""
MAX_UNPACKED = 1 << 30
"""The largest total size of the documents, in bytes, to refuse ZIP bombs."""
_CHUNK = 3 << 18
"""The size of pieces in bytes, a multiple of 3, so that their base64 texts can be joined."""
_LOG = frozenset(("header.json", "_journal/start.json"))
"""An eval log contains one of these files; other archives do not."""


def unpacked(file: IO[bytes]) -> IO[bytes] | None:
    """Return the JSON text of an eval log in a temporary file; None for any other ZIP. Raises DocumentError if the archive is damaged or
    too large."""
    with _archive_errors():
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            return None
        if not is_eval_log(archive.namelist()):
            return None
        return _written(file, archive)


def is_eval_log(names: Iterable[str]) -> bool:
    return not _LOG.isdisjoint(names)


def repacked(archive: IO[bytes], documents: Iterable[tuple[str, Iterator[bytes]]]) -> None:
    """Write the documents into a new archive, deflated, because every version of Inspect can read that."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as new:
        for name, chunks in documents:
            with new.open(zipfile.ZipInfo(name), "w", force_zip64=True) as member:
                member.writelines(chunks)


def _written(file: IO[bytes], archive: zipfile.ZipFile) -> IO[bytes]:
    names = [name for name in archive.namelist() if not name.endswith("/")]
    if strange := [name for name in names if not name.endswith(".json")]:
        raise DocumentError(f"This eval log holds “{strange[0][:60]}”, which is not a JSON document; unpack it and upload a sample.")
    samples = [name for name in names if name.startswith("samples/")]
    members = [name for name in names if not name.startswith("samples/")]
    text: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_HELD)  # noqa: SIM115
    text.write(MARK)
    file.seek(0)
    while chunk := file.read(_CHUNK):
        text.write(base64.b64encode(chunk))
    text.write(b'",\n"names": ' + json.dumps([*samples, *members]).encode() + b',\n"samples": [')
    left = _write_all(text, archive, samples, MAX_UNPACKED)
    text.write(b'],\n"members": [')
    _write_all(text, archive, members, left)
    text.write(b"]}\n")
    return text


def _write_all(text: IO[bytes], archive: zipfile.ZipFile, names: Iterable[str], room: int) -> int:
    """Write the documents one after another. Return the number of bytes left of `room`."""
    separator = b"\n"
    for name in names:
        text.write(separator)
        with archive.open(name) as member:
            while chunk := member.read(_CHUNK):
                room -= len(chunk)
                if room < 0:
                    raise DocumentError(f"The archive unpacks to more than {MAX_UNPACKED >> 30} GB; upload its samples one by one.")
                text.write(chunk)
        separator = b",\n"
    return room


@contextmanager
def _archive_errors() -> Iterator[None]:
    """Raise DocumentError for the decompressors' errors about damaged archives."""
    try:
        yield
    except (zipfile.BadZipFile, ZstdError, zlib.error, EOFError, ValueError, KeyError, RuntimeError, OSError) as error:
        raise DocumentError(f"The archive is damaged: {str(error)[:120] or type(error).__name__}.") from None


if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

ENDINGS = frozenset((".json", ".jsonl", ".ndjson", ".eval", ".md", ".txt", ".log", ".db", ".sqlite", ".sqlite3", ".vscdb", ".traj"))
"""The extensions of files that may be transcripts."""
MOST_FILES = 500
_ARCHIVE_HELD = 1 << 22


@dataclass(frozen=True, slots=True)
class Member:
    name: str
    """The path in the archive, without `..` and other steps out of it."""
    file: IO[bytes]
    size: int


def is_archive(file: IO[bytes]) -> bool:
    """Return True for a ZIP archive of separate files. Eval logs and other documents in ZIP form are not archives."""
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC:
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            return not is_eval_log(archive.namelist())
    except zipfile.BadZipFile:
        return False
    finally:
        file.seek(0)


def members(file: IO[bytes], most: int) -> Iterator[Member]:
    """Yield the possible transcripts in an archive, by name. Each file stays open until the next one is yielded.

    Raises DocumentError if the archive is damaged or encrypted, has no such file, or exceeds `most` bytes or MOST_FILES files.
    """
    with _as_sentence(), zipfile.ZipFile(file) as archive:
        infos = sorted((info for info in archive.infolist() if _may_be_transcript(info.filename)), key=lambda info: info.filename)
        if not infos:
            raise DocumentError("The archive holds no transcript: no .json, .jsonl, .md or database of an agent.")
        if len(infos) > MOST_FILES:
            raise DocumentError(f"The archive holds {len(infos):,} files, more than {MOST_FILES}; unpack it and name the folder.")
        if sum(info.file_size for info in infos) > most:
            raise DocumentError(f"The archive unpacks to more than {most / 1e6:,.0f} MB; unpack it and take what you need.")
        for info in infos:
            with archive.open(info) as inside, tempfile.SpooledTemporaryFile(max_size=_ARCHIVE_HELD) as copy:
                shutil.copyfileobj(inside, copy, 1 << 18)
                copy.seek(0)
                yield Member(_safe(info.filename), copy, info.file_size)


def _may_be_transcript(name: str) -> bool:
    path = PurePosixPath(name)
    is_hidden = any(part.startswith("__MACOSX") for part in path.parts) or path.name.startswith(".")
    return not name.endswith("/") and not is_hidden and PurePosixPath(plain_name(path.name)).suffix.lower() in ENDINGS


def _safe(name: str) -> str:
    steps = [step for step in name.replace("\\", "/").replace("\0", "").split("/") if step not in ("", ".", "..")]
    return "/".join(steps)


@contextmanager
def _as_sentence() -> Iterator[None]:
    """Raise DocumentError for the decompressors' errors about damaged archives."""
    try:
        yield
    except (zipfile.BadZipFile, ZstdError, zlib.error, EOFError, ValueError, KeyError, RuntimeError, NotImplementedError) as error:
        raise DocumentError(f"The archive cannot be unpacked: {str(error)[:120] or type(error).__name__}.") from None
