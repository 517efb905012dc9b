"""The facts of a session in lists and totals, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

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
