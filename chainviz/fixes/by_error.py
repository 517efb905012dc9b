"""Find the sessions of this machine that contain an id from an API's error, by searching the bytes of their stores, newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from chainviz.core.databases.snapshot import is_database
from chainviz.core.databases.text import session_at
from chainviz.core.errors import DocumentError
from chainviz.core.pasted_errors.message import ErrorMessage
from chainviz.fixes.stored_session import stored_session

MOST_BYTES = 2_000_000_000
"""The most bytes of stores that are searched for one error."""
MOST_IDS = 8
CHUNK = 1 << 22


def ids_of(error: ErrorMessage) -> tuple[str, ...]:
    """Return the ids that the error names, or words that look like ids."""
    return (error.ids or error.looks_like_ids)[:MOST_IDS]


def addresses_with(ids: Sequence[str], addresses: Iterable[str]) -> Iterator[str]:
    """Yield the addresses of sessions that contain one of the ids, in the given order. Unreadable stores are skipped."""
    wanted = [id.encode() for id in ids]
    left, stores = MOST_BYTES, dict[Path, bool]()
    for address in addresses if wanted else ():
        session = session_at(Path(address))
        path = session[0] if session else Path(address)
        if path not in stores:
            left -= _size(path)
            stores[path] = left >= 0 and _has_any(path, wanted)
        if stores[path] and (not session or _is_in_session(address, wanted)):
            yield address


def _has_any(path: Path, wanted: Sequence[bytes]) -> bool:
    """Return True if a file, a file of a folder, or the log of a database may contain one of the words. Compressed files always may."""
    return any(_file_has(each, wanted) for each in _files(path))


def _files(path: Path) -> list[Path]:
    try:
        if path.is_dir():
            return [each for each in path.rglob("*.json") if each.is_file()]
    except OSError:
        return []
    return [path, path.with_name(f"{path.name}-wal")] if is_database(path) else [path]


def _file_has(path: Path, wanted: Sequence[bytes]) -> bool:
    overlap = max(len(word) for word in wanted) - 1
    try:
        with path.open("rb") as file:
            tail = b""
            while chunk := file.read(CHUNK):
                block = tail + chunk
                if any(word in block for word in wanted):
                    return True
                tail = block[-overlap:] if overlap else b""
    except OSError:
        return False
    return path.suffix in (".zst", ".gz")


def _is_in_session(address: str, wanted: Sequence[bytes]) -> bool:
    try:
        content = stored_session(address).read()
    except DocumentError:
        return False
    return any(word in content for word in wanted)


def _size(path: Path) -> int:
    try:
        return sum(each.stat().st_size for each in _files(path) if each.exists())
    except OSError:
        return 0
