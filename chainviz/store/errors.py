"""The errors of the store, with sentences for a person, and full disks among other errors."""

from __future__ import annotations

import errno
import sqlite3
from typing import TYPE_CHECKING

from chainviz.core.chain.paths import Path
from chainviz.core.errors import Refused

if TYPE_CHECKING:
    from chainviz.store.models import Version

FULL = "The server's disk is full."
_OF_FILES = {errno.ENOSPC, errno.EDQUOT}
_OF_SQLITE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}
"""Errors of SQLite. The second means that there is no room for the index that its readers share."""
_OF_POSTGRESQL = "53100"


def is_disk_full(error: BaseException | None) -> bool:
    """Return True if a full disk is the error or a cause of it."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OF_FILES:
            return True
        if getattr(error, "sqlite_errorcode", None) in _OF_SQLITE or getattr(error, "sqlstate", "") == _OF_POSTGRESQL:
            return True
        error = error.__cause__ or error.__context__
    return False


class Conflict(Refused):
    """Raised if somebody else saved a version in the meantime. Nothing is saved, and the draft stays."""

    def __init__(self, base: Version, head: Version) -> None:
        super().__init__(
            f"Version {head.number} was saved while you worked on version {base.number}; rebase your draft, or save yours as a copy."
        )
        self.base = base
        self.head = head


class Overlap(Refused):
    """Raised if a draft and the newest version changed the same pairs."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        shown = ", ".join(map(str, paths[:5])) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
        shown = shown or "the document around the messages"
        super().__init__(f"Both your draft and the newer version changed {shown}; choose which change to keep, or save yours as a copy.")
        self.paths = paths
        """In the draft's base."""
