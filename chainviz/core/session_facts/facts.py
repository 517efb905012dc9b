"""The facts of a session in lists and totals, as values.

Those of its tools are calls, errors and bytes by day, repeated calls, and how the session ended.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal, NamedTuple

from chainviz.core.chain.messages import AI, HUMAN, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.surroundings import Unread
from chainviz.core.usage.recorded import LastCall, TokenUsage
from chainviz.core.usage.times import NO_TIMES, Times

Health = Literal["accepted", "refused", "part", "failed"]
"""`refused`: the session's own API would refuse its next request. `part`: some of it was not understood. `failed`:
nothing of it could be read."""
Ending = Literal["", "finished", "interrupted", "api-error"]
"""How the session ended, if it is recorded."""
Day = str
"""A day in UTC, such as `2026-11-27`; "" if no time is recorded."""


class ToolCount(NamedTuple):
    """Calls of one tool."""

    calls: int = 0
    errors: int = 0
    """The number of results that are marked as errors."""
    bytes: int = 0
    """The size of its results in bytes."""


class Repeat(NamedTuple):
    """A call that a session makes again, with the same arguments and the same result. The first one is not counted."""

    tool: str
    arguments: str
    """The beginning of the arguments."""
    number: int
    bytes: int
    """The size of the repeated results in bytes."""


class ProblemCount(NamedTuple):
    """Errors of one rule."""

    rule: str
    number: int
    text: str
    """The first problem, as a sentence."""


class ErrorCount(NamedTuple):
    """Tool results or answers of an API that report the same error."""

    tool: str
    """The name of the tool; "" for an error of the API."""
    text: str
    """The first line, with numbers replaced by #, so that errors that differ only in a number are equal."""
    number: int


@dataclass(frozen=True, slots=True)
class SessionFacts:
    format: str = ""
    provider: str = ""
    """The name of the provider whose API the session was checked for: its own."""
    title: str = ""
    project: str = ""
    model: str = ""
    messages: int = 0
    times: Times = NO_TIMES
    days: frozenset[Day] = frozenset()
    """Days on which something was recorded."""
    usage: Mapping[tuple[Day, str], TokenUsage] = field(default_factory=dict)
    """Usage by day and model; empty if none is recorded."""
    tools: Mapping[tuple[Day, str], ToolCount] = field(default_factory=dict)
    """Counts by day and tool name."""
    problems: tuple[ProblemCount, ...] = ()
    """The reasons why its API would refuse the next request."""
    structure_problems: int = 0
    unread: tuple[Unread, ...] = ()
    secrets: int = 0
    errors: tuple[ErrorCount, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    last_call: LastCall | None = None
    growth: tuple[int, ...] = ()
    """The tokens of the prompts, in order; at most `MOST_POINTS` of them."""
    ending: Ending = ""

    @property
    def health(self) -> Health:
        return "refused" if self.problems else "part" if self.unread else "accepted"

    @property
    def problem_count(self) -> int:
        return sum(each.number for each in self.problems)


MOST_POINTS = 22


DAMAGED = "damaged-records"
"""The rule of a session with damaged records. Its agent cannot read them, or resumes without what precedes them."""
MOST_KINDS = 50
"""The most kinds of errors, and of repeated calls, that are kept of a session: the most frequent ones."""
LONGEST = 160
"""The most characters of an error, and of the arguments of a repeated call."""
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{8}-[0-9a-f-]{27,}\b|\b[0-9a-f]{12,}\b|\d+")
_API_ERROR = "API Error"
"""The first words of an answer in Claude Code if the API refused."""
_INTERRUPTED = "[Request interrupted by user"
_FINISHED = frozenset(("end_turn", "stop", "STOP", "completed", "stop_sequence"))


class ToolFacts:
    def __init__(self) -> None:
        self.by_day: dict[tuple[Day, str], ToolCount] = {}
        self._calls: dict[str, tuple[Day, ToolCall]] = {}
        """The calls without a result, by id."""
        self._errors = Counter[tuple[str, str]]()
        self._seen = set[bytes]()
        self._repeats: dict[bytes, Repeat] = {}

    def add(self, day: Day, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolCall):
                self._count(day, part.name, ToolCount(calls=1))
                self._calls[part.id] = day, part
            elif isinstance(part, ToolResult):
                self._add_result(day, part)
        if ending_of(message) == "api-error":
            self._errors["", error_line(_first_text(message))] += 1

    def errors(self) -> tuple[ErrorCount, ...]:
        return tuple(ErrorCount(*key, count) for key, count in self._errors.most_common(MOST_KINDS))

    def repeats(self) -> tuple[Repeat, ...]:
        return tuple(sorted(self._repeats.values(), key=lambda each: -each.bytes)[:MOST_KINDS])

    def _add_result(self, day: Day, result: ToolResult) -> None:
        called_on, call = self._calls.pop(result.call_id, (day, None))
        name = call.name if call is not None else result.name
        self._count(called_on, name, ToolCount(0, int(result.is_error), result.size))
        if result.is_error:
            self._errors[name, error_line(result.content)] += 1
        if call is not None:
            self._compare(call, result)

    def _compare(self, call: ToolCall, result: ToolResult) -> None:
        words = "\0".join((call.name, call.arguments, result.content))
        digest = blake2b(words.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if digest in self._seen:
            before = self._repeats.get(digest, Repeat(call.name, _one_line(call.arguments), 0, 0))
            self._repeats[digest] = before._replace(number=before.number + 1, bytes=before.bytes + result.size)
        self._seen.add(digest)

    def _count(self, day: Day, name: str, more: ToolCount) -> None:
        old = self.by_day.get((day, name), ToolCount())
        self.by_day[day, name] = ToolCount(*(one + other for one, other in zip(old, more, strict=True)))


def ending_of(message: Message) -> Ending:
    """Return how a session with this last message ended; empty if the message does not show it."""
    text = _first_text(message)
    if message.role == AI and text.startswith(_API_ERROR):
        return "api-error"
    if message.role == HUMAN and text.startswith(_INTERRUPTED):
        return "interrupted"
    return "finished" if message.role == AI and message.note in _FINISHED else ""


def _first_text(message: Message) -> str:
    return next((part.text for part in message.parts if isinstance(part, Text)), "")


def error_line(text: str) -> str:
    """Return the first line of an error without text that differs from run to run."""
    line = next((line for line in text[:4000].splitlines() if line.strip()), "")
    return _one_line(_NUMBER.sub("#", line))


def _one_line(text: str) -> str:
    return " ".join(text[: 4 * LONGEST].split())[:LONGEST]
