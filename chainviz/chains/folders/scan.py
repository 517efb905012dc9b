"""The files of a folder: names, sizes and times, and nothing of their content.

A scan is kept for a few seconds, and longer where it took long: pages ask again and again while a session runs.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from django.conf import settings

from chainviz.chains.folders.choose_folders import Watched
from chainviz.chains.uploads.local_files import state_of
from chainviz.core.documents.compressed import plain_name
from chainviz.core.documents.event_folder import BESIDE, EVENTS, EXAMPLES, conversation_of, is_event_folder
from chainviz.core.errors import DocumentError

MOST_FILES, MOST_DEPTH = 20_000, 24
SECONDS = 2.0
"""For which a scan counts as fresh …"""
REST = 20
"""… or so many times as long as it took."""
HELD = 32
RUNNING = 60.0
"""Seconds since a file's last change during which its session counts as running."""
SUFFIXES = frozenset((
    ".json", ".jsonl", ".ndjson", ".eval", ".traj", ".txt", ".log", ".md", ".yaml", ".yml", ".csv", ".tsv", ".har", ".out",
))  # fmt: skip
"""Of files that may hold a transcript, before `.gz` or `.zst` where they are compressed."""
LEADS_OUT = "A link out of this folder is not followed."
LINKED_FOLDER = "A link to a folder is not followed."
NO_UTF8 = "Its name is not valid UTF-8; rename it to open it."


@dataclass(frozen=True, slots=True)
class FoundFile:
    name: str
    """Below the folder, with / between parts."""
    size: int
    modified: int
    """In nanoseconds."""
    sentence: str = ""
    """Why it cannot be opened."""

    @property
    def shown(self) -> str:
        """A folder of events stands for its conversation."""
        return conversation_of(self.name)

    @property
    def folder(self) -> str:
        return self.shown.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Scan:
    files: tuple[FoundFile, ...]
    """The ones changed last first."""
    is_cut: bool
    """There are more than MOST_FILES."""
    sentence: str
    """Why there are none."""
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
    """The path of a listed file. Raises DocumentError, in a sentence, for a name that leads elsewhere."""
    path = folder.path / name
    parts = PurePosixPath(name).parts
    if not name or "\0" in name or PurePosixPath(name).is_absolute() or ".." in parts or any(map(_is_hidden, parts)):
        raise DocumentError("There is no such file in this folder.")
    if not is_inside(path, folder.path):
        raise DocumentError(f"{parts[-1]}: {LEADS_OUT}")
    if not _fits(folder.pattern, name):
        raise DocumentError("There is no such file in this folder.")
    return path


def _scan(folder: Watched) -> Scan:
    began = time.monotonic()
    try:
        os.scandir(folder.path).close()
    except OSError as error:
        return Scan((), False, f"{folder.path} cannot be read: {error.strerror or error}.", began, 0)
    files: list[FoundFile] = []
    for each in _files(folder):
        files.append(each)
        if len(files) > MOST_FILES:
            break
    shown = sorted(files[:MOST_FILES], key=lambda each: (-each.modified, each.name))
    return Scan(tuple(shown), len(files) > MOST_FILES, "", began, time.monotonic() - began)


def _files(folder: Watched) -> Iterator[FoundFile]:
    waiting = [("", 0)]
    deepest = MOST_DEPTH if "**" in folder.pattern or not folder.pattern else folder.pattern.count("/")
    while waiting:
        below, depth = waiting.pop()
        try:
            entries = _entries(folder.path / below)
        except OSError as error:
            yield FoundFile(f"{below}/", 0, 0, f"This folder cannot be read: {error.strerror or error}.")
            continue
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            if _is_hidden(entry.name):
                continue
            if _is_folder(entry):
                if depth < deepest and Path(entry.path) != settings.CHAINVIZ.data:
                    waiting.append((name, depth + 1))
            elif entry.is_symlink() and entry.is_dir():
                yield FoundFile(name, 0, 0, LINKED_FOLDER)
            elif _fits(folder.pattern, name):
                yield _file(folder, entry, name)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """By name, without what an agent keeps beside the events of a conversation. Raises OSError."""
    left_out = BESIDE if is_event_folder(folder / EVENTS) else ()
    return sorted((entry for entry in os.scandir(folder) if entry.name not in left_out), key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether to look for files in it: a folder of events is listed like a file."""
    return entry.is_dir(follow_symlinks=False) and not is_event_folder(Path(entry.path))


def _file(folder: Watched, entry: os.DirEntry[str], name: str) -> FoundFile:
    shown = name.encode("utf-8", "replace").decode("utf-8", "replace")
    if shown != name:
        return FoundFile(shown, 0, 0, NO_UTF8)
    if entry.is_symlink() and not is_inside(Path(entry.path), folder.path):
        return FoundFile(name, 0, 0, LEADS_OUT)
    try:
        size, modified = state_of(Path(entry.path))
    except OSError as error:
        return FoundFile(name, 0, 0, f"It cannot be read: {error.strerror or error}.")
    if not os.access(entry.path, os.R_OK):
        return FoundFile(name, size, modified, "It cannot be read: Permission denied.")
    return FoundFile(name, size, modified)


def _is_hidden(part: str) -> bool:
    return part.startswith(".")


def lists(folder: Watched, path: str) -> bool:
    """Whether a file of this path belongs to the folder."""
    root = f"{str(folder.path).rstrip('/')}/"
    return path.startswith(root) and _fits(folder.pattern, path.removeprefix(root))


def is_running(modified: int) -> bool:
    """`modified`: time of a file's last change in nanoseconds."""
    return time.time() - modified / 1e9 < RUNNING


def is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def _fits(pattern: str, name: str) -> bool:
    """A folder of events fits where its events do."""
    if PurePosixPath(name).name == EVENTS:
        return any(_fits(pattern, f"{name}/{event}") for event in EXAMPLES)
    if not pattern:
        return PurePosixPath(plain_name(name)).suffix.lower() in SUFFIXES
    return _regex(pattern).fullmatch(name) is not None


@lru_cache(maxsize=64)
def _regex(pattern: str) -> re.Pattern[str]:
    """`**/` is any number of folders, `*` and `?` stay inside one name."""
    found = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]/]+\])", pattern):
        if part.startswith("[") and part.endswith("]"):
            negated = part[1] in "!^"
            letters = part[2:-1] if negated else part[1:-1]
            found += f"[{'^' if negated else ''}{re.escape(letters).replace(chr(92) + '-', '-')}]"
        else:
            found += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    return re.compile(found, re.DOTALL)
