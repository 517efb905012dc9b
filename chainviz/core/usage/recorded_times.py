"""Times of messages, as transcripts record them (formats.md section 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from chainviz.core.chain.messages import Message
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.json.edit import parse
from chainviz.core.usage.beside import members_beside

_NAMES = (
    "timestamp", "created_at", "createdAt", "create_time", "created", "date", "start_time", "startTime", "started_at",
    "startTimeUnixNano", "end_time", "endTime", "completed_at", "endTimeUnixNano",
)  # fmt: skip
_MARKS = tuple(f'"{name}"' for name in _NAMES)
_CONTENT = {"content", "arguments", "args", "input", "output", "parameters", "result", "toolUseResult"}
"""Members that hold what a message says, which may name times of its own."""
_EARLIEST, _LATEST = 946_684_800_000, 4_102_444_800_000
"""The years 2000 to 2100; a number outside of them is no time."""


class Times(NamedTuple):
    """From when to when, in milliseconds since 1970, UTC; zeros where no time is recorded."""

    began: int = 0
    ended: int = 0

    @property
    def seconds(self) -> float:
        return (self.ended - self.began) / 1000

    def __bool__(self) -> bool:
        return self.began > 0

    def __or__(self, other: tuple[int, int]) -> Times:
        """From the earlier beginning to the later end."""
        if not self or not other[0]:
            return self or Times(*other)
        return Times(min(self.began, other[0]), max(self.ended, other[1]))


NO_TIMES = Times()


def times_of(message: Message) -> Times:
    """What the source of a message records; where it lies in several units, from the first to the last."""
    found = Times()
    for fragment in message.source:
        if any(mark in fragment.text for mark in _MARKS):
            try:
                found |= times_in(parse(fragment.text))
            except (ValueError, RecursionError):
                continue  # a source that is not JSON
    return found


def times_beside(context: DocumentContext) -> Times:
    """What the object around the list of messages records."""
    return times_in(members_beside(context))


def times_in(value: Any) -> Times:
    """The times in a JSON value: those of the object itself, else of the objects in it."""
    return _own(value) or next(filter(None, map(_own, _inner(value))), Times())


def _inner(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        yield from (inner for name, inner in value.items() if name not in _CONTENT)


def _own(value: Any) -> Times:
    if not isinstance(value, Mapping):
        return Times()
    found = [time for name in _NAMES if name in value and (time := _milliseconds(value[name]))]
    return Times(min(found), max(found)) if found else Times()


def _milliseconds(value: Any) -> int:
    """Of a number of seconds, milliseconds, microseconds or nanoseconds, or of a text of ISO 8601; 0 for what is none."""
    if isinstance(value, str):
        if not value.isascii() or not value.isdigit():
            return _of_text(value)
        value = int(value[:20])
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < 1e20:
        return 0
    for in_a_second in (1, 1e3, 1e6, 1e9):
        if _EARLIEST <= value / in_a_second * 1000 < _LATEST:
            return int(value / in_a_second * 1000)
    return 0


def _of_text(text: str) -> int:
    """A time without zone is one of UTC; a day alone is no time."""
    if not 16 <= len(text) <= 40:
        return 0
    try:
        time = datetime.fromisoformat(text)
        found = int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
    return found if _EARLIEST <= found < _LATEST else 0
