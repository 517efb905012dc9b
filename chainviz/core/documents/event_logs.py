"""Read logs that an agent is still writing: growing files up to their last complete line, and OpenHands' folders with one file for
each event, as JSON Lines."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from chainviz.core.documents.units import Read
from chainviz.core.errors import DocumentError

EVENTS = "events"
"""The name of the event folder inside the folder of a conversation."""
BESIDE = frozenset(("base_state.json", "event_cache", "init.json", "llm_registry.json", "metadata.json"))
"""Other files of OpenHands in the folder of a conversation: settings and copies of events."""
NAME = re.compile(r"(event-)?([0-9]+)(?:-.+)?\.json")
EXAMPLES = ("event-00000-0.json", "0.json")


def conversation_of(path: str) -> str:
    """Return the folder of a conversation, given its event folder. Any other path is returned unchanged."""
    return path.removesuffix(f"/{EVENTS}")


def is_event_folder(path: Path) -> bool:
    try:
        return path.name == EVENTS and path.is_dir() and bool(events_of(path))
    except OSError:
        return False


def events_folder(session: Path) -> Path:
    """Return the event folder, given that folder or the one of its conversation. Raises DocumentError for any other folder."""
    for folder in (session / EVENTS, session):
        if folder.is_dir() and events_of(folder):
            return folder
    raise DocumentError(f"{session} is a folder without the events of a session.")


def events_of(folder: Path) -> list[Path]:
    """Return the event files in order. Links are left out, because OpenHands writes none and they may lead anywhere. Raises OSError."""
    found = (path for path in folder.iterdir() if NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink())
    return sorted(found, key=number_of)


def number_of(event: Path) -> int:
    found = NAME.fullmatch(event.name)
    return int(found[2]) if found else 0


def lines(folder: Path) -> Iterator[bytes]:
    """Yield each event as one line, without its line end. Raises OSError."""
    return (line_of(path) for path in events_of(folder))


def line_of(event: Path) -> bytes:
    """Return an event on one line, which works because JSON has line breaks only between tokens. An empty file, left by a crash, becomes
    a truncated event."""
    return b" ".join(event.read_bytes().strip().splitlines()) or b"{"


STEP = 1 << 16
LONGEST = 1 << 26
"""The longest line, in bytes, that is checked for being complete."""


def end_of_lines(read: Read, size: int) -> int:
    """Return the offset after the last complete line. It is the file size if the last line is complete, or the lines are not JSON."""
    end = _last_break(read, size)
    last = read(end, size)
    if not last.strip() or _is_json(last):
        return size
    return end if _is_json(_first_line(read, size)) else size


def _last_break(read: Read, size: int) -> int:
    """Return the offset after the last line break; 0 if there is none."""
    for end in range(size, max(0, size - LONGEST), -STEP):
        found = read(max(0, end - STEP), end).rfind(b"\n")
        if found >= 0:
            return max(0, end - STEP) + found + 1
    return 0


def _first_line(read: Read, size: int) -> bytes:
    end = STEP
    while end < 2 * min(size, LONGEST):
        line, found, _ = read(0, min(end, size)).partition(b"\n")
        if found:
            return line
        end *= 2
    return b""


def _is_json(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False


FileState = tuple[int, int]
"""Size in bytes and modification time in nanoseconds. For an event folder: the total size and the last time of all files."""


def state_of(path: Path) -> FileState:
    """Return the state of a session's file, or of its folder of events. Raises OSError."""
    own = path.stat()
    found = [own] if not stat.S_ISDIR(own.st_mode) else [each.stat() for each in events_of(path)]
    return sum(each.st_size for each in found), max((each.st_mtime_ns for each in found), default=own.st_mtime_ns)
