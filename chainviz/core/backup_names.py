"""The names of backups of a replaced session: its state before a fix, and before a backup was restored."""

from __future__ import annotations

import re

BACKUP, REPLACED = ".backup-", ".replaced-"
STAMP = "%Y%m%d-%H%M%S-%f"
_NAME = re.compile(r".+\.(?:backup|replaced)-[0-9]{8}-[0-9]{6}-[0-9]{6}")


def is_backup(name: str) -> bool:
    """Return True if a file or folder has the name of a backup of a session. A search through a folder skips backups."""
    return _NAME.fullmatch(name) is not None
