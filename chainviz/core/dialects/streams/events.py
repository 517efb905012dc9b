"""A recorded stream as its events: server-sent events (`data: {…}`), or JSON objects one after another, be it one a line, over
several lines, or as the elements of a list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_FIELD = re.compile(r"(?:event|data|id|retry)?:")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_OBJECT = re.compile(r"[\s,\[\]]*(?=\{)")
"""What may lie in front of an object."""
_REST = re.compile(r"[^\n]*\n?")
_AFTER = re.compile(r"[ \t\r,\]]*\n?")
_DECODER = json.JSONDecoder(strict=False)


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
    return _server_sent(text) if is_sse(text) else _objects(text)


def _server_sent(text: str) -> Iterator[Event]:
    """An event ends with a blank line. Where those are missing, the next field after complete data begins another one."""
    start, data = 0, ""
    for line in _LINES.finditer(text):
        field = line[0].strip()
        value = _value(data) if data and _FIELD.match(field) else None
        if value is not None:
            yield Event(start, line.start(), value)
            start, data = line.start(), ""
        if field.startswith("data:"):
            data = f"{data}\n{field[len('data:') :].strip()}".lstrip("\n")
        elif not field and data:
            yield Event(start, line.end(), _value(data))
            start, data = line.end(), ""
    if start < len(text):
        yield Event(start, len(text), _value(data))


def _objects(text: str) -> Iterator[Event]:
    """Objects one after another; a line where none begins, or one that is broken, is an event without a value."""
    start = 0
    while start < len(text):
        found = _OBJECT.match(text, start)
        value, end = _decoded(text, found.end()) if found else (None, start)
        after = (_REST if value is None else _AFTER).match(text, end)
        end = after.end() if after else end
        yield Event(start, end, value)
        start = end


def _decoded(text: str, start: int) -> tuple[Any, int]:
    """The object that begins at `start` and where it ends; None where it is broken."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start


def _value(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
