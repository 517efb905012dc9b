"""A session that OpenHands keeps as a folder with one file for each event: read as JSON Lines, and written back as files.

Names are `event-00012-<id>.json`, or `12.json` in the older version. The numbers have no gaps: the agent reads events up to
the first missing one.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from chainviz.core.documents.links import uuid_of
from chainviz.core.errors import DocumentError
from chainviz.sessions.records import value_of

EVENTS = "events"
_NAME = re.compile(r"(event-)?([0-9]+)(?:-.+)?\.json")


def events_folder(session: Path) -> Path:
    """Of the folder of a conversation, or of its events. Raises DocumentError for any other folder."""
    for folder in (session / EVENTS, session):
        if folder.is_dir() and _events(folder):
            return folder
    raise DocumentError(f"{session} is a folder without the events of a session.")


def read(folder: Path) -> bytes:
    return b"".join(_line(path) + b"\n" for path in _events(folder))


def write(folder: Path, new: bytes, part: Path) -> None:
    """Makes the folder `part`: what `folder` is with the events of `new`. Files of events that stay are copied."""
    old = _events(folder)
    files = {_line(path): path for path in old}
    is_numbered_only = not old[0].name.startswith("event-")
    shutil.copytree(folder, part, ignore=lambda _, names: [name for name in names if _NAME.fullmatch(name)])
    first = _number(old[0])
    for number, line in enumerate(new.splitlines(), first):
        value = {"id": uuid_of(f"{number} {line!r}"), **value_of(line)}
        target = part / (f"{number}.json" if is_numbered_only else f"event-{number:05d}-{value['id']}.json")
        if line in files:
            shutil.copy2(files[line], target)
        else:
            target.write_text(json.dumps(value))
            shutil.copymode(old[0], target)


def _events(folder: Path) -> list[Path]:
    return sorted((path for path in folder.iterdir() if _NAME.fullmatch(path.name)), key=_number)


def _number(path: Path) -> int:
    found = _NAME.fullmatch(path.name)
    return int(found[2]) if found else 0


def _line(path: Path) -> bytes:
    """The event on one line, as OpenHands writes it."""
    content = path.read_bytes().strip()
    return json.dumps(value_of(content)).encode() if b"\n" in content else content
