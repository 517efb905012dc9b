"""Inspect's `.eval` archives: a ZIP of JSON documents, read as one JSON text.

    {"archive": "<the ZIP in base64>", "names": [...], "samples": [<samples/*.json>], "members": [<the others>]}

The text holds each document byte for byte, so a sample is exported as its member was; the ZIP is kept beside them
because no library compresses them to the same bytes again. Members may be deflated or Zstandard-compressed
(inspect_ai `_util/zipfile.py`).
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO

from chainviz.core.errors import DocumentError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

EVAL = "inspect-eval"
"""The encoding of a source that was an archive."""
MAGIC = b"PK\x03\x04"
MARK = b'{"archive": "'
"""Before the ZIP, which ends with the next quotation mark."""
MAX_UNPACKED = 1 << 30
"""Bytes of all documents together; more is refused, as ZIP bombs are."""
_CHUNK = 3 << 18
"""A multiple of 3, so that the base64 of pieces is that of the whole."""
_HELD = 1 << 24
_LOG = frozenset(("header.json", "_journal/start.json"))
"""One of these tells an eval log from other archives."""


def unpacked(file: IO[bytes]) -> IO[bytes] | None:
    """The text of an archive, in a temporary file; None for a ZIP that is no eval log.

    Raises DocumentError where the archive is damaged or too large.
    """
    with _told():
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            return None
        if not _LOG & set(archive.namelist()):
            return None
        return _written(file, archive)


def repacked(archive: IO[bytes], documents: Iterable[tuple[str, Iterator[bytes]]]) -> None:
    """Writes a new archive of the documents, deflated, which every version of Inspect reads."""
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
    """Writes the documents one after another; returns how many more bytes there is room for."""
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
def _told() -> Iterator[None]:
    """What the decompressors raise for damaged archives, as a sentence."""
    try:
        yield
    except (zipfile.BadZipFile, ZstdError, zlib.error, EOFError, ValueError, KeyError, RuntimeError, OSError) as error:
        raise DocumentError(f"The archive is damaged: {str(error)[:120] or type(error).__name__}.") from None
