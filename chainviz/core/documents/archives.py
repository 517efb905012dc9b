"""Read the transcripts and agent databases in a ZIP archive, one file at a time."""

from __future__ import annotations

import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from chainviz.core.documents.packed_files import MAGIC, is_eval_log, plain_name
from chainviz.core.errors import DocumentError

if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdError
else:
    from backports.zstd import ZstdError, zipfile

ENDINGS = frozenset((".json", ".jsonl", ".ndjson", ".eval", ".md", ".txt", ".log", ".db", ".sqlite", ".sqlite3", ".vscdb", ".traj"))
"""The extensions of files that may be transcripts."""
MOST_FILES = 500
_HELD = 1 << 22


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
            with archive.open(info) as inside, tempfile.SpooledTemporaryFile(max_size=_HELD) as copy:
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
