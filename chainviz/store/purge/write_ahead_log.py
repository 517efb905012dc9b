"""The write-ahead log of SQLite: it holds pages as they once were, also those of rows that are deleted since."""

from __future__ import annotations

import logging

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)


def empty_log() -> bool:
    """Writes the log into the database and truncates it. Returns False where a reader still needs it. Raises DatabaseError."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (busy, *_) = cursor.fetchone()
    return not busy


def empty_log_soon() -> None:
    """After a deletion: where the log is busy, it is overwritten by later writes."""
    if connection.vendor != "sqlite":
        return
    try:
        empty_log()
    except DatabaseError:
        log.warning("the write-ahead log could not be emptied after a deletion", exc_info=True)
