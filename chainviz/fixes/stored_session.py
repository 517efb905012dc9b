"""A session in its agent's store: read it by its address, fix it, write it back with a backup, and restore the backup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from chainviz.api.chain import Chain, Result
from chainviz.core.databases import Change
from chainviz.core.databases.contract import Database
from chainviz.core.databases.writing import backups_of as database_backups
from chainviz.core.documents import opencode_storage
from chainviz.core.documents.packed_files import holds_more
from chainviz.core.errors import DocumentError
from chainviz.fixes.backups import backups_of, content_of, restore, write_back
from chainviz.fixes.database_sessions import DatabaseSessions, database_sessions
from chainviz.fixes.fix import ALL_REQUIRED, FixedSession, Target, fix_session

T = TypeVar("T")


class StoredSession(Protocol):
    """A session of this machine, in a file or a database."""

    @property
    def address(self) -> str: ...

    @property
    def name(self) -> str:
        """Return the name of its file, or a name for an export from its database."""

    @property
    def database(self) -> Database | None:
        """Return the kind of its database; None for a file."""

    @property
    def read_only(self) -> str:
        """Return the agent into whose store chainviz does not write; "" if it writes into it."""
        return ""

    def read(self) -> bytes:
        """Return the content. Raises DocumentError if it cannot be read."""

    def write(self, old: bytes, new: bytes) -> Path:
        """Replace the content `old` with `new`, and return the backup. Raises Refused if the content is no longer `old`, or its agent
        is running."""

    def restore(self) -> tuple[Path, Path | None]:
        """Restore the newest backup. Return it and a copy of the replaced content, or None if nothing differs."""

    def backups(self) -> list[Path]:
        """Return the backups, the oldest first."""

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder with a file for each event."""
        return False

    def holds_more(self, size: int) -> bool:
        """Return whether the session is certainly larger, without reading it whole."""
        return False


@dataclass(frozen=True, slots=True)
class SessionFile(StoredSession):
    path: Path

    @property
    def address(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def database(self) -> None:
        return None

    @property
    def read_only(self) -> str:
        return opencode_storage.LABEL if opencode_storage.is_session(self.path) else ""

    def read(self) -> bytes:
        return content_of(self.path)

    def write(self, old: bytes, new: bytes) -> Path:
        return write_back(self.path, old, new)

    def restore(self) -> tuple[Path, Path | None]:
        return restore(self.path)

    def backups(self) -> list[Path]:
        return backups_of(self.path)

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    def holds_more(self, size: int) -> bool:
        return self.path.is_file() and holds_more(self.path, size)


@dataclass(frozen=True, slots=True)
class SessionRow(StoredSession):
    """A session in a database."""

    sessions: DatabaseSessions

    @property
    def address(self) -> str:
        return f"{self.sessions.path}#{self.sessions.id}"

    @property
    def name(self) -> str:
        return f"{self.sessions.id}.json"

    @property
    def database(self) -> Database:
        return self.sessions.database

    @property
    def read_only(self) -> str:
        return "" if self.database.writes else self.database.label

    def read(self) -> bytes:
        return self.sessions.documents()[self.sessions.id]

    def write(self, old: bytes, new: bytes) -> Path:
        return self.sessions.write([Change(self.sessions.id, old, new)])

    def restore(self) -> tuple[Path, Path | None]:
        return self.sessions.restore()

    def backups(self) -> list[Path]:
        return database_backups(self.sessions.path)


def stored_session(address: str) -> StoredSession:
    """Return the session at an address. If the address is neither a file nor in an agent's database, reading it raises an error."""
    try:
        sessions = database_sessions(address)
    except DocumentError:
        sessions = None
    return SessionRow(sessions) if sessions and sessions.id else SessionFile(Path(address))


@dataclass(frozen=True, slots=True)
class HowToRead:
    """How to read the content of a session, and the goal of its fix."""

    format: str | None = None
    target: Target = ALL_REQUIRED
    database: Database | None = None
    """The database that contains the session; None for a file."""


def fix_content(content: bytes, name: str, show: Callable[[Chain, Result], T], how: HowToRead = HowToRead()) -> FixedSession[T]:
    """Fix a session's content like `fix_session`, without rows that the agent of its database cannot read."""
    whole, damage = how.database.without_damage(content) if how.database else (content, ())
    fixed = fix_session(whole, name, show, how.format, how.target)
    return replace(fixed, old=content, damage=(*damage, *fixed.damage))


@dataclass(frozen=True)
class FixedAddress(Generic[T]):
    sessions: tuple[FixedSession[T], ...]
    backup: Path | None = None
    """The backup of the earlier content; None if nothing was written."""

    @property
    def is_changed(self) -> bool:
        return any(session.is_changed for session in self.sessions)


def fix_address(address: str, show: Callable[[Chain, Result], T], *, write: bool = False) -> FixedAddress[T]:
    """Fix the sessions at an address, and write them back beside a backup if `write` is set. Raises ChainError."""
    stored = database_sessions(address)
    if stored is not None:
        return _fix_stored(stored, show, write)
    path = Path(address)
    fixed = fix_session(content_of(path), address, show)
    backup = write_back(path, fixed.old, fixed.new) if write and fixed.is_changed else None
    return FixedAddress((fixed,), backup)


def _fix_stored(stored: DatabaseSessions, show: Callable[[Chain, Result], T], write: bool) -> FixedAddress[T]:
    sessions, changes = list[FixedSession[T]](), list[Change]()
    for id, document in stored.documents().items():
        fixed = fix_content(document, f"{stored.path}#{id}", show, HowToRead(database=stored.database))
        sessions.append(fixed)
        if fixed.is_changed:
            changes.append(Change(id, document, fixed.new))
    return FixedAddress(tuple(sessions), stored.write(changes) if write and changes else None)
