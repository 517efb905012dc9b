"""Write into a database of an agent: after a backup, in one transaction, and only while no other process has it open."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path

from chainviz.core.backup_names import BACKUP, STAMP
from chainviz.core.errors import DocumentError, Refused

_LOCKED = (0x40000000, 512)
"""The bytes of a database that SQLite locks: their offset and number."""
_LOG_LOCKED = (120, 9)
"""The same for the index of its write-ahead log, which is locked by every process that has the log open."""


def write_database(path: Path, work: Callable[[sqlite3.Connection], None], mark: str = BACKUP) -> Path:
    """Run `work` in one transaction and return the backup that was made before it, named with `mark`.

    Raises Refused if another process has the database open, or what `work` raises: nothing is changed then.
    """
    process = user_of(path)
    if process:
        raise Refused(f"{path} is in use by process {process}; quit the agent and try again.")
    backup = path.with_name(f"{path.name}{mark}{datetime.now().strftime(STAMP)}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=0)) as connection:
            connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            # held until the connection closes: an agent that starts meanwhile waits
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            _back_up(connection, backup)
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                backup.unlink()
                raise
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Refused(f"{path} is in use by another program; quit the agent and try again.") from None
        raise DocumentError(f"{path} cannot be written: {error}.") from None
    return backup


def backups_of(path: Path) -> list[Path]:
    """Return the backups of a database, the oldest first."""
    named = (each for each in path.parent.iterdir() if each.name.startswith(f"{path.name}{BACKUP}"))
    return sorted(each for each in named if each.suffix != ".part")


def user_of(path: Path) -> int:
    """Return the number of a process that has the database open; 0 if none is known."""
    return next(_lockers(path), 0) or next(openers_of(path), 0)


def _back_up(connection: sqlite3.Connection, backup: Path) -> None:
    part = backup.with_name(f"{backup.name}.part")
    try:
        with closing(sqlite3.connect(part)) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
        part.replace(backup)
    finally:
        part.unlink(missing_ok=True)


def _lockers(path: Path) -> Iterator[int]:
    """Yield processes that hold one of SQLite's locks. Asking takes no lock."""
    for name, (start, length) in ((path, _LOCKED), (path.with_name(f"{path.name}-shm"), _LOG_LOCKED)):
        with suppress(OSError), name.open("rb") as file:
            if sys.platform == "linux":
                asked = struct.pack("@hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
                kind, _, _, _, process = struct.unpack("@hhqqi4x", fcntl.fcntl(file, fcntl.F_GETLK, asked))
            else:
                asked = struct.pack("@qqihh", start, length, 0, fcntl.F_WRLCK, os.SEEK_SET)
                _, _, process, kind, _ = struct.unpack("@qqihh", fcntl.fcntl(file, fcntl.F_GETLK, asked))
            if kind != fcntl.F_UNLCK:
                yield process


def openers_of(path: Path) -> Iterator[int]:
    """Yield other processes with a file, or the log of a database, among their open files, where the system lists them."""
    wanted = set()
    for ending in ("", "-wal", "-shm"):
        with suppress(OSError):
            state = path.with_name(path.name + ending).stat()
            wanted.add((state.st_dev, state.st_ino))
    for process in Path("/proc").glob("[0-9]*"):
        if process.name == str(os.getpid()):
            continue
        with suppress(OSError):
            for handle in os.scandir(process / "fd"):
                with suppress(OSError):
                    state = handle.stat()
                    if (state.st_dev, state.st_ino) in wanted:
                        yield int(process.name)
