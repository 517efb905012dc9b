"""A conversation that OpenHands keeps as a folder with one file for each event, read as JSON Lines.

Names are `event-00012-<id>.json`, or `12.json` in the older version. The numbers have no gaps: the agent reads events up to
the first missing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chainviz.core.errors import DocumentError

EVENTS = "events"
"""The folder in that of a conversation …"""
BESIDE = frozenset(("base_state.json", "event_cache", "init.json", "llm_registry.json", "metadata.json"))
"""… and what OpenHands keeps beside it: settings, and copies of events."""
NAME = re.compile(r"(event-)?([0-9]+)(?:-.+)?\.json")
EXAMPLES = ("event-00000-0.json", "0.json")


def conversation_of(path: str) -> str:
    """The folder of a conversation for that of its events; any other path stays."""
    return path.removesuffix(f"/{EVENTS}")


def is_event_folder(path: Path) -> bool:
    try:
        return path.name == EVENTS and path.is_dir() and bool(events_of(path))
    except OSError:
        return False


def events_folder(session: Path) -> Path:
    """Of the folder of a conversation, or of its events. Raises DocumentError for any other folder."""
    for folder in (session / EVENTS, session):
        if folder.is_dir() and events_of(folder):
            return folder
    raise DocumentError(f"{session} is a folder without the events of a session.")


def events_of(folder: Path) -> list[Path]:
    """Their files in order. Links, which OpenHands does not write, are left out: they may lead anywhere. Raises OSError."""
    found = (path for path in folder.iterdir() if NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink())
    return sorted(found, key=number_of)


def number_of(event: Path) -> int:
    found = NAME.fullmatch(event.name)
    return int(found[2]) if found else 0


def lines(folder: Path) -> Iterator[bytes]:
    """Each event on one line, without its end. Raises OSError."""
    return (line_of(path) for path in events_of(folder))


def line_of(event: Path) -> bytes:
    """JSON has line breaks between tokens only. A file that a crash left empty is an event that was cut off at once."""
    return b" ".join(event.read_bytes().strip().splitlines()) or b"{"
