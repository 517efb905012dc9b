"""Files compressed with gzip (RFC 1952) or Zstandard (RFC 8878), such as Codex's `rollout-….jsonl.zst`.

They are told by their first bytes, may have several frames, and are never decompressed beyond a limit.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

from chainviz.core.errors import DocumentError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_DECOMPRESSED = 1_000_000_000
"""Bytes that come out of a file where its caller names no limit: that of uploads, unless a server changes it."""
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
    """Returns how the file that begins with these bytes is compressed; None for any other file."""
    return next((each for each in COMPRESSIONS if each.magic.match(head)), None)


def plain_name(name: str) -> str:
    """Returns the name of the file inside: `rollout.jsonl` for `rollout.jsonl.zst`."""
    return _ENDINGS.sub("", name)


def decompressed_file(file: IO[bytes], compression: Compression, most: int = MAX_DECOMPRESSED) -> IO[bytes]:
    """Decompresses a file into a temporary one.

    Raises DocumentError where the file is cut off or damaged, or holds more than `most` bytes.
    """
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
    """Returns what the bytes of a compressed file hold. Raises as `decompressed_file` does."""
    with decompressed_file(io.BytesIO(content), compression) as text:
        text.seek(0)
        return text.read()


def beginning(path: Path, size: int) -> bytes:
    """Returns the first `size` bytes that a file holds, decompressed where it is compressed, and none behind damage.

    Raises OSError.
    """
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
    """Returns whether a file holds more than `size` bytes, decompressed where it is compressed. Raises OSError."""
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
