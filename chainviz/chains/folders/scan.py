"""The files of a folder: names, sizes and times, and nothing of their content.

A scan is kept for a few seconds, and longer where it took long: pages ask again and again while a session runs.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from django.conf import settings

from chainviz.chains.folders.choose_folders import Watched
from chainviz.core.errors import DocumentError
from chainviz.core.sources.folder_files import LEADS_OUT, FoundFile, SessionFolder, files_of, fits, is_hidden, is_inside

MOST_FILES = 20_000
SECONDS = 2.0
"""The seconds for which a scan counts as fresh …"""
REST = 20
"""… or this many times its duration."""
HELD = 32
RUNNING = 60.0
"""Seconds since a file's last change during which its session counts as running."""


@dataclass(frozen=True, slots=True)
class Scan:
    files: tuple[FoundFile, ...]
    """The files, most recently changed first."""
    is_cut: bool
    """True if there are more than MOST_FILES."""
    sentence: str
    """The reason why there are none."""
    began: float
    took: float

    @property
    def is_fresh(self) -> bool:
        return time.monotonic() - self.began < max(SECONDS, REST * self.took)


_scans: dict[Watched, Scan] = {}
_lock = threading.Lock()


def scan(folder: Watched) -> Scan:
    with _lock:
        found = _scans.get(folder)
        if found is None or not found.is_fresh:
            if len(_scans) >= HELD:
                _scans.clear()
            _scans[folder] = found = _scan(folder)
        return found


def path_in(folder: Watched, name: str) -> Path:
    """Return the path of a listed file. Raises DocumentError, in a sentence, for a name that leads elsewhere."""
    path = folder.path / name
    parts = PurePosixPath(name).parts
    if not name or "\0" in name or PurePosixPath(name).is_absolute() or ".." in parts or any(map(is_hidden, parts)):
        raise DocumentError("There is no such file in this folder.")
    if not is_inside(path, folder.path):
        raise DocumentError(f"{parts[-1]}: {LEADS_OUT}")
    if not fits(folder.pattern, name):
        raise DocumentError("There is no such file in this folder.")
    return path


def _scan(folder: Watched) -> Scan:
    began = time.monotonic()
    try:
        os.scandir(folder.path).close()
    except OSError as error:
        return Scan((), False, f"{folder.path} cannot be read: {error.strerror or error}.", began, 0)
    files: list[FoundFile] = []
    for each in files_of(SessionFolder(folder.path, folder.pattern, settings.CHAINVIZ.data)):
        files.append(each)
        if len(files) > MOST_FILES:
            break
    shown = sorted(files[:MOST_FILES], key=lambda each: (-each.modified, each.name))
    return Scan(tuple(shown), len(files) > MOST_FILES, "", began, time.monotonic() - began)


def is_running(modified: int) -> bool:
    """Return True if the session is running. `modified` is the time of the file's last change in nanoseconds."""
    return time.time() - modified / 1e9 < RUNNING
