"""Writes a session back beside a dated backup, and puts the backup back. Nothing is written over a file that changed."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime
from pathlib import Path

from chainviz.core.documents import event_folder
from chainviz.core.documents.event_folder import events_folder, events_of, line_of, number_of
from chainviz.core.documents.links import uuid_of
from chainviz.core.errors import DocumentError, Refused
from chainviz.sessions.records import value_of

BACKUP = ".backup-"
STAMP = "%Y%m%d-%H%M%S-%f"
_NAME = re.compile(r".+\.backup-[0-9]{8}-[0-9]{6}-[0-9]{6}")


def content_of(session: Path) -> bytes:
    try:
        if session.is_dir():
            return b"".join(line + b"\n" for line in event_folder.lines(events_folder(session)))
        return session.read_bytes()
    except OSError as error:
        raise DocumentError(f"{session} cannot be opened: {error.strerror or error}.") from None


def write_back(session: Path, old: bytes, new: bytes) -> Path:
    """Returns the backup. Raises Refused where the session changed since it was read."""
    target = _target(session)
    part = target.with_name(f".{target.name}.part")
    backup = target.with_name(f"{target.name}{BACKUP}{datetime.now().strftime(STAMP)}")
    try:
        _prepare(target, new, part)
        if content_of(target) != old:
            raise Refused(f"{session} changed while it was being fixed: the agent still runs. Stop it and try again.")
        _exchange(target, part, backup)
    except OSError as error:
        raise DocumentError(f"{session} cannot be written: {error.strerror or error}.") from None
    finally:
        _remove(part)
    return backup


def _target(session: Path) -> Path:
    """What is replaced: the file, or the folder of a conversation's events."""
    return events_folder(session.resolve()) if session.is_dir() else session.resolve()


def _prepare(target: Path, new: bytes, part: Path) -> None:
    _remove(part)
    if target.is_dir():
        _write_events(target, new, part)
        return
    part.write_bytes(new)
    shutil.copystat(target, part)


def _write_events(folder: Path, new: bytes, part: Path) -> None:
    """Makes the folder `part`: what `folder` is with the events of `new`. Files of events that stay are copied."""
    old = events_of(folder)
    files = {line_of(path): path for path in old}
    is_numbered_only = not old[0].name.startswith("event-")
    shutil.copytree(folder, part, ignore=lambda _, names: filter(event_folder.NAME.fullmatch, names))
    for number, line in enumerate(new.splitlines(), number_of(old[0])):
        value = {"id": uuid_of(f"{number} {line!r}"), **value_of(line)}
        target = part / (f"{number}.json" if is_numbered_only else f"event-{number:05d}-{value['id']}.json")
        if line in files:
            shutil.copy2(files[line], target)
        else:
            target.write_text(json.dumps(value))
            shutil.copymode(old[0], target)


def _exchange(target: Path, part: Path, backup: Path) -> None:
    if not target.is_dir():
        shutil.copy2(target, backup)
        part.replace(target)
        return
    target.rename(backup)
    try:
        part.rename(target)
    except OSError:
        backup.rename(target)
        raise


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part)
    part.unlink(missing_ok=True)


def is_backup(name: str) -> bool:
    """Whether a file or folder has the name of a backup, which nobody means who names the folder it lies in."""
    return _NAME.fullmatch(name) is not None


def backups_of(session: Path) -> list[Path]:
    """The oldest first."""
    target = _target(session)
    return sorted(each for each in target.parent.iterdir() if each.name.startswith(f"{target.name}{BACKUP}"))


def restore(session: Path) -> tuple[Path, Path]:
    """Returns the newest backup, which the session is again, and the backup of what it was until now."""
    backups = backups_of(session)
    if not backups:
        raise Refused(f"{session} has no backup.")
    return backups[-1], write_back(session, content_of(session), content_of(backups[-1]))
