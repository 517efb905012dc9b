"""Fix sessions by their address: a file, a folder of events, an agent's database, or one session in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from chainviz.api.chain import Chain, Result
from chainviz.core.databases import Change
from chainviz.fixes.backups import content_of, write_back
from chainviz.fixes.database_sessions import DatabaseSessions, database_sessions
from chainviz.fixes.fix import FixedSession, fix_session
from chainviz.fixes.stored_session import HowToRead, fix_content

T = TypeVar("T")


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
