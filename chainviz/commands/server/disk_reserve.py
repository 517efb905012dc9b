"""A file that is given up when chainviz starts on a full disk: SQLite needs some room before it can read (issue 8)."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

NAME = "reserve"
SIZE = 1_000_000
AMPLE = 10 * SIZE
"""Free bytes from which on the reserve is made."""


def make(folder: Path) -> None:
    path = folder / NAME
    if not path.exists() and shutil.disk_usage(folder).free > AMPLE:
        with suppress(OSError):
            path.write_bytes(bytes(SIZE))


def give_up(folder: Path) -> bool:
    """Returns whether there was a reserve."""
    path = folder / NAME
    found = path.exists()
    path.unlink(missing_ok=True)
    return found
