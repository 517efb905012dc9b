"""Recognise a full disk among errors of the database and of files."""

from __future__ import annotations

import errno
import sqlite3

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
