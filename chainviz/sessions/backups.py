"""Writes a session back beside a dated backup, and puts the backup back. Nothing is written over a file that changed."""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from chainviz.core.errors import DocumentError, Refused

BACKUP = ".backup-"
STAMP = "%Y%m%d-%H%M%S-%f"


def content_of(session: Path) -> bytes:
    try:
        return session.read_bytes()
    except OSError as error:
        raise DocumentError(f"{session} cannot be opened: {error.strerror or error}.") from None


def write_back(session: Path, old: bytes, new: bytes) -> Path:
    """Returns the backup. Raises Refused where the session changed since it was read."""
    target = session.resolve()
    part = target.with_name(f".{target.name}.part")
    backup = target.with_name(f"{target.name}{BACKUP}{datetime.now().strftime(STAMP)}")
    try:
        part.write_bytes(new)
        shutil.copystat(target, part)
        if target.read_bytes() != old:
            raise Refused(f"{session} changed while it was being fixed: the agent still runs. Stop it and try again.")
        shutil.copy2(target, backup)
        part.replace(target)
    except OSError as error:
        raise DocumentError(f"{session} cannot be written: {error.strerror or error}.") from None
    finally:
        part.unlink(missing_ok=True)
    return backup


def backups_of(session: Path) -> list[Path]:
    """The oldest first."""
    target = session.resolve()
    return sorted(each for each in target.parent.iterdir() if each.name.startswith(f"{target.name}{BACKUP}"))


def restore(session: Path) -> tuple[Path, Path]:
    """Returns the newest backup, which the session is again, and the backup of what it was until now."""
    backups = backups_of(session)
    if not backups:
        raise Refused(f"{session} has no backup.")
    return backups[-1], write_back(session, content_of(session), content_of(backups[-1]))
