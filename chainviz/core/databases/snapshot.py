"""SQLite databases of agents, read beside the agent that runs on them.

An ordinary reader takes locks: it can keep an agent from committing, or from emptying its write-ahead log, and it writes into the
log's index. Here no lock is ever taken and nothing is written beside the database. Where all content is in the database file,
it is read in place as if it could never change, and read again where it did. Where there is a log, or the rest of a transaction,
both files are copied, and the copy is opened.

That copy is whole: a log only grows until it starts again with a new header, and what a checkpoint moves into the database
meanwhile is still in the log. So a log with the same header before and after the copy repairs every page that was half copied.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chainviz.core.errors import DocumentError

MAGIC = b"SQLite format 3\x00"
ATTEMPTS = 40
PAUSE = 0.025
"""Seconds between attempts. Longer than a file system's clock takes to give a second write another time."""
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_LOG_HEADER = 32
T = TypeVar("T")


def is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read_database(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    """Return what `work` reads from the database as it was at one moment. `work` may run more than once.

    Raises DocumentError if the file cannot be opened, is damaged, or never rests.
    """
    for _ in range(ATTEMPTS):
        before = _state(path)
        try:
            if before.has_log or before.has_journal:
                return _work_on_copy(path, before, work)
            if before.is_at_rest:
                with _opened(f"{path.absolute().as_uri()}?mode=ro&immutable=1") as connection:
                    found = work(connection)
                if _state(path).database == before.database:
                    return found
        except _Changed:
            pass
        except sqlite3.Error as error:
            if _state(path) == before and before.is_at_rest:
                raise DocumentError(f"{path} is a damaged database: {error}.") from None
        time.sleep(PAUSE)
    raise DocumentError(f"{path} is being written all the time; try again when its agent rests.")


@contextmanager
def database_copy(path: Path) -> Iterator[Path]:
    """Copy a database, with what its log holds, to a temporary file of the same name. Raises as `read_database` does."""
    with tempfile.TemporaryDirectory(prefix="chainviz-") as folder:
        copy = Path(folder, path.name)

        def write(connection: sqlite3.Connection) -> None:
            copy.unlink(missing_ok=True)
            with closing(sqlite3.connect(copy)) as target:
                connection.backup(target)
                target.execute("PRAGMA journal_mode = DELETE")

        read_database(path, write)
        yield copy


def tables_of(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Return the columns of each table. Views and virtual tables, in which a query could run anything, are left out."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0").fetchall()
    names = [name for name, sql in rows if isinstance(name, str) and isinstance(sql, str)]
    return {name: frozenset(row[1] for row in connection.execute("SELECT * FROM pragma_table_info(?)", (name,))) for name in names}


class _Changed(Exception):
    """The database changed while it was copied."""


@dataclass(frozen=True, slots=True)
class _State:
    database: tuple[int, ...]
    """Inode, size, time of the last change, and SQLite's own counter of changes."""
    log: bytes
    """The header of the write-ahead log; empty if there is no log or it is empty."""
    journal: tuple[int, ...]
    """The same as `database` for the journal of an unfinished transaction."""
    taken: float

    @property
    def has_log(self) -> bool:
        return bool(self.log)

    @property
    def has_journal(self) -> bool:
        return bool(self.journal)

    @property
    def is_at_rest(self) -> bool:
        """True if another write would have another time."""
        return abs(self.taken - self.database[2] / 1e9) > PAUSE / 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _State) and (self.database, self.log, self.journal) == (other.database, other.log, other.journal)


def _state(path: Path) -> _State:
    try:
        with path.open("rb") as file:
            head, own = file.read(100), os.fstat(file.fileno())
    except OSError as error:
        raise DocumentError(f"{path} cannot be opened: {error.strerror or error}.") from None
    database = (own.st_ino, own.st_size, own.st_mtime_ns, int.from_bytes(head[24:28]))
    return _State(database, _log_header(_beside(path, "-wal")), _journal_state(_beside(path, "-journal")), time.time())


def _log_header(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(_LOG_HEADER + 1)
    except OSError:
        return b""
    return head[:_LOG_HEADER] if len(head) > _LOG_HEADER else b""


def _journal_state(path: Path) -> tuple[int, ...]:
    try:
        with path.open("rb") as file:
            head, own = file.read(len(_JOURNAL)), os.fstat(file.fileno())
    except OSError:
        return ()
    return (own.st_ino, own.st_size, own.st_mtime_ns) if head == _JOURNAL else ()


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _work_on_copy(path: Path, before: _State, work: Callable[[sqlite3.Connection], T]) -> T:
    with tempfile.TemporaryDirectory(prefix="chainviz-") as folder:
        copy = Path(folder, "copy.db")
        try:
            _copy(path, copy)
            for ending in ("-wal",) if before.has_log else ("-journal",):
                _copy(_beside(path, ending), _beside(copy, ending))
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise _Changed from None
            raise DocumentError(f"{path} cannot be copied: {error.strerror or error}.") from None
        after = _state(path)
        is_same = after.log == before.log and after.database[0] == before.database[0] if before.has_log else after == before
        if not is_same:
            raise _Changed
        with _opened(copy.as_uri()) as connection:
            return work(connection)


def _copy(source: Path, target: Path) -> None:
    """Copy inside the kernel, which shares the blocks where the file system can."""
    if not hasattr(os, "copy_file_range"):
        shutil.copyfile(source, target)
        return
    with source.open("rb") as old, target.open("wb") as new:
        try:
            while os.copy_file_range(old.fileno(), new.fileno(), 1 << 30):
                pass
        except OSError:  # between two file systems of some kinds
            old.seek(0)
            new.seek(0)
            shutil.copyfileobj(old, new, 1 << 20)


@contextmanager
def _opened(uri: str) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        connection.execute("PRAGMA query_only = ON")
        yield connection
