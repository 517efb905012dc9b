"""Keep the bytes of an upload until they are a chain or are deleted, in a folder beside the database.

A worker that imports big files must see this folder; the bytes are deleted as soon as the store has them.
The progress of an import and the first messages of the file are kept here too: in the database, progress would be a transaction
every half second.
"""

from __future__ import annotations

import json
import secrets
import shutil
import time
from collections.abc import Container, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

from chainviz.core.databases.snapshot import is_database
from chainviz.core.databases.text import database_text, session_at, session_text
from chainviz.core.documents import event_logs
from chainviz.core.documents.event_logs import end_of_lines
from chainviz.core.documents.source import Source, open_source


def folder() -> Path:
    path: Path = settings.CHAINVIZ.data / "incoming"
    path.mkdir(parents=True, exist_ok=True)
    return path


def keep(upload: UploadedFile[bytes]) -> str:
    """Take the bytes over and give back the name they wait under; a big upload is moved, not copied."""
    name = secrets.token_hex(16)
    target = folder() / name
    try:
        _write(upload, target)
    except OSError:
        target.unlink(missing_ok=True)
        raise
    return name


def copy(path: Path) -> str:
    """Copy the present file, or folder of events, of this machine, without incomplete lines; of an agent's database, or a session of it
    (`opencode.db#ses_1`), the text of its sessions. Raises OSError, and DocumentError if a database cannot be read.
    """
    name = secrets.token_hex(16)
    target = folder() / name
    try:
        if path.is_dir():
            _copy_events(path, target)
        elif session := session_at(path):
            _write_text(session_text(*session).file, target)
        elif is_database(path):
            _write_text(database_text(path, _most_bytes()).file, target)
        else:
            shutil.copyfile(path, target)
        with target.open("rb+") as file:
            file.truncate(end_of_lines(partial(_read, file), file.seek(0, 2)))
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return name


def _most_bytes() -> int:
    return int(settings.CHAINVIZ.max_upload_mb * 1_000_000)


def _write_text(text: IO[bytes], target: Path) -> None:
    with text, target.open("wb") as file:
        text.seek(0)
        shutil.copyfileobj(text, file, 1 << 20)


def _copy_events(path: Path, target: Path) -> None:
    with target.open("wb") as file:
        for number, line in enumerate(event_logs.lines(path)):
            file.write(b"\n" + line if number else line)


def _read(file: IO[bytes], start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _write(upload: UploadedFile[bytes], target: Path) -> None:
    if isinstance(upload, TemporaryUploadedFile):
        shutil.move(upload.temporary_file_path(), target)
        return
    with target.open("wb") as file:
        for chunk in upload.chunks():
            file.write(chunk)


def path_of(name: str) -> Path:
    return folder() / name


def open_waiting(name: str) -> Source:
    """Open a waiting file; the content of a compressed one may be no larger than an upload. Raises DocumentError."""
    return open_source(path_of(name), _most_bytes())


def is_there(name: str) -> bool:
    return bool(name) and path_of(name).exists()


def forget(name: str) -> None:
    if name:
        for path in (path_of(name), _note_of(name), _first_messages_of(name)):
            path.unlink(missing_ok=True)


def delete_orphans(names: Container[str], age: timedelta) -> None:
    """Delete files older than `age` that wait under none of these names: their upload was killed, or its row is gone."""
    before = time.time() - age.total_seconds()
    for path in folder().iterdir():
        if path.name.partition(".")[0] not in names and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def orphans(names: Container[str]) -> list[str]:
    """Return the names under which files wait that nobody knows."""
    waiting = {path.name.partition(".")[0] for path in folder().iterdir()}
    return sorted(name for name in waiting if name not in names)


def note_progress(name: str, share: float, message: str) -> None:
    if is_there(name):
        _replace(_note_of(name), f"{share:.3f} {message}")


def read_progress(name: str) -> tuple[int, str]:
    """Percent, and what it is doing."""
    try:
        share, _, message = _note_of(name).read_text(encoding="utf-8").partition(" ")
    except OSError:
        return 0, ""
    return int(float(share) * 100), message


def _note_of(name: str) -> Path:
    return folder() / f"{name}.progress"


class FirstMessage(NamedTuple):
    """One of the first messages of a file that is being imported."""

    role: str
    """The name of its role on pages."""
    size: int
    """Its size in bytes."""
    preview: str


def note_first_messages(name: str, messages: Sequence[FirstMessage]) -> None:
    if is_there(name):
        _replace(_first_messages_of(name), json.dumps(messages))


def read_first_messages(name: str) -> list[FirstMessage]:
    """Return the first messages of a waiting file, or none until its import has found them."""
    try:
        text = _first_messages_of(name).read_text(encoding="utf-8")
    except OSError:
        return []
    return [FirstMessage(*message) for message in json.loads(text)]


def _first_messages_of(name: str) -> Path:
    return folder() / f"{name}.first"


def _replace(path: Path, text: str) -> None:
    """Write a file that may be read meanwhile."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)
