"""Write a session back, with a dated backup, and restore backups. A file that has changed meanwhile is never overwritten."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NoReturn

from chainviz.core.backup_names import BACKUP, REPLACED, STAMP
from chainviz.core.databases.snapshot import is_database
from chainviz.core.documents import event_logs, opencode_storage
from chainviz.core.documents.event_logs import events_folder, events_of, line_of, number_of
from chainviz.core.documents.written_lists import uuid_of
from chainviz.core.errors import DocumentError, Refused
from chainviz.core.session_records import value_of

HAND_OVER = "`chainviz convert SESSION --to codex --install` hands it to another agent, fixed."


_IMPORT = "`chainviz convert SESSION --to opencode --install` writes it, fixed, to a file for `opencode import`."


def reads_only(label: str) -> str:
    """Return the sentence for a store that chainviz does not write, with the way to a fixed session."""
    return f"chainviz only reads sessions of {label}: {_IMPORT if label == opencode_storage.LABEL else HAND_OVER}"


def refuse_reading_only(label: str) -> NoReturn:
    raise Refused(reads_only(label))


def content_of(session: Path) -> bytes:
    """Return a session's file, or the events of its folder as lines. Raises DocumentError, also for a database of many sessions."""
    if is_database(session):
        raise DocumentError(f"{session} is a database; name a session of it, as {session.name}#ID.")
    try:
        if session.is_dir():
            return b"".join(line + b"\n" for line in event_logs.lines(events_folder(session)))
        if opencode_storage.is_session(session):
            return opencode_storage.document_of(session)
        return session.read_bytes()
    except OSError as error:
        raise DocumentError(f"{session} cannot be opened: {error.strerror or error}.") from None


def write_back(session: Path, old: bytes, new: bytes) -> Path:
    """Write a session back and return the backup. Raises Refused if the session has changed since it was read, or has a file for each
    part, as in opencode before 1.2."""
    if opencode_storage.is_session(session):
        refuse_reading_only(opencode_storage.LABEL)
    return _replaced(session, old, BACKUP, partial(_prepare, _target(session), new))


def restore(session: Path) -> tuple[Path, Path | None]:
    """Restore the newest backup, file by file.

    Returns the backup and a copy of the replaced content, which is not a backup; None instead of the copy if the session already equals
    the backup.
    """
    content = content_of(session)
    backups = backups_of(session)
    if not backups:
        raise Refused(f"{session} has no backup.")
    if _files(_target(session)) == _files(backups[-1]):
        return backups[-1], None
    return backups[-1], _replaced(session, content, REPLACED, partial(_copy, backups[-1]))


def _replaced(session: Path, old: bytes, mark: str, prepare: Callable[[Path], object]) -> Path:
    """Replace the session with the file or folder that `prepare` makes. Return the path of the old content."""
    target = _target(session)
    part = target.with_name(f".{target.name}.part")
    kept = target.with_name(f"{target.name}{mark}{datetime.now().strftime(STAMP)}")
    try:
        _remove(part)
        prepare(part)
        if content_of(target) != old:
            raise Refused(f"{session} changed meanwhile: the agent still runs. Stop it and try again.")
        _exchange(target, part, kept)
    except OSError as error:
        raise DocumentError(f"{session} cannot be written: {error.strerror or error}.") from None
    finally:
        _remove(part)
    return kept


def _target(session: Path) -> Path:
    """Return the path to replace: the file, or the folder of a conversation's events."""
    return events_folder(session.resolve()) if session.is_dir() else session.resolve()


def _files(path: Path) -> dict[Path, bytes]:
    """Return the content of a file, or of the files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    try:
        return {each.relative_to(path): each.read_bytes() for each in files if each.is_file()}
    except OSError as error:
        raise DocumentError(f"{path} cannot be opened: {error.strerror or error}.") from None


def _copy(backup: Path, part: Path) -> None:
    if backup.is_dir():
        shutil.copytree(backup, part)
    else:
        shutil.copy2(backup, part)


LATER = 1_000_000
"""The nanoseconds by which a fixed file is later than the old one: lists keep their order, and who compares size and time sees a change."""


def _prepare(target: Path, new: bytes, part: Path) -> None:
    if target.is_dir():
        _write_events(target, new, part)
        return
    part.write_bytes(new)
    shutil.copystat(target, part)
    own = part.stat()
    os.utime(part, ns=(own.st_atime_ns, own.st_mtime_ns + LATER))


def _write_events(folder: Path, new: bytes, part: Path) -> None:
    """Make the folder `part` like `folder`, but with the events of `new`. Files of unchanged events are copied."""
    old = events_of(folder)
    files = {line_of(path): path for path in old}
    is_numbered_only = not old[0].name.startswith("event-")
    shutil.copytree(folder, part, ignore=lambda _, names: filter(event_logs.NAME.fullmatch, names))
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


def backups_of(session: Path) -> list[Path]:
    """Return the backups of a session, oldest first."""
    target = _target(session)
    return sorted(each for each in target.parent.iterdir() if each.name.startswith(f"{target.name}{BACKUP}"))
