"""List the files of a folder that may be sessions: names, sizes and times, without their content."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from chainviz.core.documents.event_logs import BESIDE, EVENTS, EXAMPLES, conversation_of, is_event_folder, state_of
from chainviz.core.documents.packed_files import plain_name

MOST_DEPTH = 24
SUFFIXES = frozenset((
    ".json", ".jsonl", ".ndjson", ".eval", ".traj", ".txt", ".log", ".md", ".yaml", ".yml", ".csv", ".tsv", ".har", ".out",
))  # fmt: skip
"""Suffixes of files that may contain a transcript, before `.gz` or `.zst` if they are compressed."""
LEADS_OUT = "A link out of this folder is not followed."
LINKED_FOLDER = "A link to a folder is not followed."
NO_UTF8 = "Its name is not valid UTF-8; rename it to open it."


@dataclass(frozen=True, slots=True)
class FoundFile:
    name: str
    """The path below the folder, with / between its parts."""
    size: int
    modified: int
    """In nanoseconds since 1970."""
    sentence: str = ""
    """The reason why it cannot be opened."""

    @property
    def display_name(self) -> str:
        """The name that pages show: that of the conversation for a folder of events."""
        return conversation_of(self.name)

    @property
    def folder(self) -> str:
        return self.display_name.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class SessionFolder:
    """A folder whose files may be sessions."""

    path: Path
    pattern: str = ""
    """The files to list, such as `**/*.jsonl`; "" for all that may be transcripts."""
    left_out: Path | None = None
    """A folder in it that is skipped."""

    def lists(self, path: str) -> bool:
        """Return True if a file of this path belongs to the folder."""
        root = f"{str(self.path).rstrip('/')}/"
        return path.startswith(root) and fits(self.pattern, path.removeprefix(root))


def files_of(folder: SessionFolder) -> Iterator[FoundFile]:
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
            if is_hidden(entry.name):
                continue
            if _is_folder(entry):
                if depth < deepest and Path(entry.path) != folder.left_out:
                    waiting.append((name, depth + 1))
            elif entry.is_symlink() and entry.is_dir():
                yield FoundFile(name, 0, 0, LINKED_FOLDER)
            elif fits(folder.pattern, name):
                yield _file(folder, entry, name)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Return the entries by name, without those that an agent keeps beside the events of a conversation. Raises OSError."""
    left_out = BESIDE if is_event_folder(folder / EVENTS) else ()
    return sorted((entry for entry in os.scandir(folder) if entry.name not in left_out), key=lambda entry: entry.name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return True if files are searched in it; a folder of events is listed like a file."""
    return entry.is_dir(follow_symlinks=False) and not is_event_folder(Path(entry.path))


def _file(folder: SessionFolder, entry: os.DirEntry[str], name: str) -> FoundFile:
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


def is_hidden(part: str) -> bool:
    return part.startswith(".")


def is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def fits(pattern: str, name: str) -> bool:
    """Return True if a name fits a pattern. A folder of events fits if one of its events would."""
    if PurePosixPath(name).name == EVENTS:
        return any(fits(pattern, f"{name}/{event}") for event in EXAMPLES)
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
