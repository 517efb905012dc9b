"""Times of messages and calls as transcripts record them, and durations as text such as 0.4 s, 38 min, 6 h 42 min.

The record of a call has its times, model and tokens. Sums over a chain are in `recorded` and `document_usage`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from chainviz.core.chain.messages import AI, Message
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.documents.json.edit import value_of
from chainviz.core.usage.document_usage import USAGE_WORDS, carried_lines, members_beside, running_total
from chainviz.core.usage.recorded import TokenUsage, find_model, find_usage

_NAMES = frozenset((
    "timestamp", "created_at", "createdAt", "create_time", "created", "date", "start_time", "startTime", "started_at",
    "startTimeUnixNano", "end_time", "endTime", "completed_at", "endTimeUnixNano",
))  # fmt: skip
_CONTENT = {"content", "arguments", "args", "input", "output", "parameters", "result", "toolUseResult"}
"""Members with the content of a message, which may contain other times."""
_EARLIEST, _LATEST = 946_684_800_000, 4_102_444_800_000
"""The years 2000 to 2100; a number outside this range is not a time."""


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
        """Return the times from the earlier beginning to the later end."""
        if not self or not other[0]:
            return self or Times(*other)
        return Times(min(self.began, other[0]), max(self.ended, other[1]))


NO_TIMES = Times()


def times_of(message: Message) -> Times:
    """Return the times in the source of a message, from the first to the last of its units."""
    found = NO_TIMES
    for fragment in message.source:
        try:
            own = times_in(value_of(fragment))
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        found = found if own is NO_TIMES else found | own
    return found


def times_beside(context: DocumentContext) -> Times:
    """Return the times that the object around the list of messages records."""
    return times_in(members_beside(context))


def times_in(value: Any) -> Times:
    """Return the times in a JSON value: those of the object itself, else of the objects in it."""
    if type(value) is dict and _NAMES.isdisjoint(value) and dict not in map(type, value.values()):
        return NO_TIMES  # nearly every message
    return _own(value) or next(filter(None, map(_own, _inner(value))), NO_TIMES)


def _inner(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (inner for name, inner in value.items() if type(inner) is dict and name not in _CONTENT)


def _own(value: Any) -> Times:
    if not isinstance(value, dict) or _NAMES.isdisjoint(value):
        return NO_TIMES
    found = [time for name in value if name in _NAMES and (time := _milliseconds(value[name]))]
    return Times(min(found), max(found)) if found else NO_TIMES


def _milliseconds(value: Any) -> int:
    """Return milliseconds for a number of seconds, milliseconds, microseconds or nanoseconds, or for an ISO 8601 text;
    0 for other values."""
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
    """Return the time that a text names. A time without a zone is in UTC; a day alone is not a time."""
    if not 16 <= len(text) <= 40:
        return 0
    try:
        time = datetime.fromisoformat(text)
        found = int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0
    return found if _EARLIEST <= found < _LATEST else 0


MINUTE, HOUR, DAY = 60, 3_600, 86_400


def duration_text(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    if whole < DAY:
        return _two(whole // HOUR, "h", whole % HOUR // MINUTE, "min")
    days = whole // DAY
    return _two(days, "day" if days == 1 else "days", whole % DAY // HOUR, "h")


def _two(large: int, unit: str, small: int, smaller: str) -> str:
    return f"{large:,} {unit} {small} {smaller}" if small else f"{large:,} {unit}"


class Record(NamedTuple):
    times: Times
    model: str = ""
    usage: TokenUsage | None = None
    """The usage, or None if none is recorded."""


def record_of(message: Message) -> Record:
    """Read times, model and tokens from the source of a message. If its source has several units that repeat the usage
    (Claude Code), the last one counts."""
    times, model, usage = NO_TIMES, "", None
    for fragment in message.source:
        try:
            value = value_of(fragment)
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        times |= times_in(value)
        if message.role == AI and (found := find_usage(value)) is not None:
            model, usage = find_model(value), found
    return Record(times, model, usage)


def calls_beside(context: DocumentContext) -> Iterator[Record]:
    """Yield the calls that a session counts in lines of their own (Codex): with each total of the session, what is new in it."""
    model, total = "", TokenUsage()
    for line in carried_lines(context, USAGE_WORDS) if context.envelope.lines else ():
        model = find_model(line) or model
        running = running_total(line)
        if running is None:
            usage = find_usage(line)
        else:
            usage, total = _increase(total, running), running
        if usage is not None:
            yield Record(times_in(line), model, usage)


def _increase(before: TokenUsage, now: TokenUsage) -> TokenUsage | None:
    """Return the increase of a running total, or None if nothing was called. A total smaller than the one before starts
    over."""
    if now[1:] == before[1:]:
        return None
    if now.input < before.input or now.output < before.output:
        return now
    return TokenUsage(1, *(one - other for one, other in zip(now[1:], before[1:], strict=True)))
