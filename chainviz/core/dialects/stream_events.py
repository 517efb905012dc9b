"""A recorded stream as its events: server-sent events (`data: {…}`), or one chunk of JSON a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_FIELD = re.compile(r"(?:event|data|id|retry)?:")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `start` and `end` are places in the text, its blank line included."""

    start: int
    end: int
    value: Any
    """None for what carries no JSON: `[DONE]`, comments, a chunk that is cut off."""


def is_sse(text: str) -> bool:
    """Whether a text begins like server-sent events."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return _FIELD.match(first) is not None


def events(text: str) -> Iterator[Event]:
    """The events of a text, which together are all of it."""
    return _server_sent(text) if is_sse(text) else _lines(text)


def _server_sent(text: str) -> Iterator[Event]:
    start, data = 0, []
    for line in _LINES.finditer(text):
        said = line[0].strip()
        if said.startswith("data:"):
            data.append(said[len("data:") :].strip())
        elif not said and data:
            yield Event(start, line.end(), _value("\n".join(data)))
            start, data = line.end(), []
    if start < len(text):
        yield Event(start, len(text), _value("\n".join(data)))


def _lines(text: str) -> Iterator[Event]:
    for line in _LINES.finditer(text):
        yield Event(line.start(), line.end(), _value(line[0]))


def _value(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
