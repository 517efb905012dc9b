"""Where the bytes of an upload wait until they are a chain or are forgotten: a folder beside the database.

A worker that imports big files must see this folder; the bytes leave it as soon as the store holds them.
How far an import is stands here too: telling it in the database would be a transaction every half second.
"""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Container
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile

from chainviz.core.documents import event_folder
from chainviz.core.documents.source import Source, open_source
from chainviz.core.documents.unfinished_line import end_of_lines


def folder() -> Path:
    path: Path = settings.CHAINVIZ.data / "incoming"
    path.mkdir(parents=True, exist_ok=True)
    return path


def keep(upload: UploadedFile[bytes]) -> str:
    """Takes the bytes over and gives back the name they wait under; a big upload is moved, not copied."""
    name = secrets.token_hex(16)
    target = folder() / name
    try:
        _write(upload, target)
    except OSError:
        target.unlink(missing_ok=True)
        raise
    return name


def copy(path: Path) -> str:
    """Copies a file, or folder of events, of this machine as it is now, without what is still being written. Raises OSError."""
    name = secrets.token_hex(16)
    target = folder() / name
    try:
        if path.is_dir():
            _copy_events(path, target)
        else:
            shutil.copyfile(path, target)
        with target.open("rb+") as file:
            file.truncate(end_of_lines(partial(_read, file), file.seek(0, 2)))
    except OSError:
        target.unlink(missing_ok=True)
        raise
    return name


def _copy_events(path: Path, target: Path) -> None:
    with target.open("wb") as file:
        for number, line in enumerate(event_folder.lines(path)):
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
    """Opens a waiting file; what is inside a compressed one may be no larger than an upload. Raises DocumentError."""
    return open_source(path_of(name), settings.CHAINVIZ.max_upload_mb * 1_000_000)


def is_there(name: str) -> bool:
    return bool(name) and path_of(name).exists()


def forget(name: str) -> None:
    if name:
        path_of(name).unlink(missing_ok=True)
        _note_of(name).unlink(missing_ok=True)


def delete_orphans(names: Container[str], age: timedelta) -> None:
    """Deletes files older than `age` that wait under none of these names: their upload was killed, or its row is gone."""
    before = time.time() - age.total_seconds()
    for path in folder().iterdir():
        if path.name.partition(".")[0] not in names and path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def orphans(names: Container[str]) -> list[str]:
    """Returns the names under which files wait that nobody knows."""
    waiting = {path.name.partition(".")[0] for path in folder().iterdir()}
    return sorted(name for name in waiting if name not in names)


def note_progress(name: str, share: float, message: str) -> None:
    if not is_there(name):
        return
    note = _note_of(name)
    fresh = note.with_suffix(".new")
    fresh.write_text(f"{share:.3f} {message}", encoding="utf-8")
    fresh.replace(note)


def read_progress(name: str) -> tuple[int, str]:
    """Percent, and what it is doing."""
    try:
        share, _, message = _note_of(name).read_text(encoding="utf-8").partition(" ")
    except OSError:
        return 0, ""
    return int(float(share) * 100), message


def _note_of(name: str) -> Path:
    return folder() / f"{name}.progress"
