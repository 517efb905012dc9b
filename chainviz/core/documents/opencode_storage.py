"""A session of opencode before 1.2, in which each message and each part is a file of its own: `storage/session/PROJECT/SESSION.json`,
`storage/message/SESSION/MESSAGE.json` and `storage/part/MESSAGE/PART.json`. It is read as the JSON that `opencode export` writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chainviz.core.errors import DocumentError

LABEL = "opencode (files)"
NOTICE = "This session of opencode has a file for each part; they were read as its export writes them, and chainviz keeps that JSON."


def is_session(path: Path) -> bool:
    """Return True for the file with the facts of a session that has messages. Looks at names only."""
    is_placed = path.suffix == ".json" and [each.name for each in path.parents[1:3]] == ["session", "storage"]
    return is_placed and messages_of(path).is_dir()


def messages_of(path: Path) -> Path:
    """Return the folder with the messages of a session."""
    return path.parents[2] / "message" / path.stem


def files_of(path: Path) -> Iterator[Path]:
    """Yield the files of a session: its facts, its messages and their parts."""
    yield path
    for message in sorted(messages_of(path).glob("*.json")):
        yield message
        yield from _parts_of(path, message)


def document_of(path: Path) -> bytes:
    """Return the session as its export writes it. Raises DocumentError, in a sentence, if one of its files cannot be read."""
    messages = [(_text(file), file) for file in messages_of(path).glob("*.json")]
    messages.sort(key=lambda each: (_created(each[0]), each[1].name))
    written = [f'{{"info": {text}, "parts": [{", ".join(map(_text, _parts_of(path, file)))}]}}' for text, file in messages]
    return f'{{"info": {_text(path)}, "messages": [{", ".join(written)}]}}\n'.encode("utf-8", "surrogateescape")


def _parts_of(path: Path, message: Path) -> list[Path]:
    return sorted((path.parents[2] / "part" / message.stem).glob("*.json"))


def _text(file: Path) -> str:
    """Return the text of a file that contains one JSON object."""
    try:
        text = file.read_bytes().decode("utf-8", "surrogateescape").strip()
        if isinstance(json.loads(text), dict):
            return text
    except OSError as error:
        raise DocumentError(f"{file} cannot be opened: {error.strerror or error}.") from None
    except (ValueError, RecursionError):
        pass
    raise DocumentError(f"{file} is not a JSON object, so that its session cannot be read.")


def _created(text: str) -> float:
    time: Any = json.loads(text).get("time")
    created = time.get("created") if isinstance(time, dict) else None
    return float(created) if isinstance(created, int | float) else 0.0
