"""Sums over rows, blocks and sections (Measure), and the bytes of a whole snapshot by role and by tool (Charts)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from chainviz.core.chain.messages import Message, Shape, ToolCall, ToolResult
from chainviz.core.chain.problems import SEVERITIES
from chainviz.core.providers.rules import NO_MARK, Mark
from chainviz.core.usage.times import Times
from chainviz.store.content.codec import pack, unpack
from chainviz.store.content.message_shapes import StoredShape

Counts = dict[str, list[int]]
"""Numbers by name. For problems: by provider ("" is the tree itself) the number of each severity, in the order of
SEVERITIES."""
NONE = (0,) * len(SEVERITIES)
OPENING = "opening"
"""The key of the only tree problem that counts only if the chain has more than one section."""


class Measure(NamedTuple):
    headers: int = 0
    """The number of header messages."""
    pairs: int = 0
    messages: int = 0
    size: int = 0
    header_size: int = 0
    invalid: int = 0
    """The number of invalid pairs."""
    problems: Counts = {}
    usage: Counts = {}
    """The recorded tokens by model, in the order of core's TokenUsage."""
    rules: Counts = {}
    """The number of problems by rule; a rule of a provider is named `provider:rule`."""
    began: int = 0
    """The times of its first and its last message, as core's Times."""
    ended: int = 0
    thinking: int = 0
    """The number of messages with the first of core's marks (providers/section_rules.py); the following members count
    the others, in their order."""
    unthinking: int = 0
    not_first: int = 0
    unsigned: int = 0
    odd_ids: int = 0
    signed: int = 0
    calling: int = 0
    server_open: int = 0
    server_late: int = 0
    cached: int = 0
    """The number of blocks with cache_control."""

    def marked(self, mark: Mark) -> int:
        thoughts = self.thinking, self.unthinking, self.not_first, self.unsigned, self.odd_ids, self.signed
        return (*thoughts, self.calling, self.server_open, self.server_late)[mark.bit_length() - 1]

    @property
    def marks(self) -> Mark:
        """The marks that any of its messages has."""
        return reduce(or_, (mark for mark in Mark if self.marked(mark)), NO_MARK)

    @property
    def times(self) -> Times:
        return Times(self.began, self.ended)

    @property
    def rows(self) -> int:
        return self.headers + self.pairs

    def __add__(self, other: Measure) -> Measure:  # type: ignore[override]
        return Measure(
            self.headers + other.headers,
            self.pairs + other.pairs,
            self.messages + other.messages,
            self.size + other.size,
            self.header_size + other.header_size,
            self.invalid + other.invalid,
            add_counts(self.problems, other.problems),
            add_counts(self.usage, other.usage),
            add_counts(self.rules, other.rules),
            *(self.times | other.times),
            self.thinking + other.thinking,
            self.unthinking + other.unthinking,
            self.not_first + other.not_first,
            self.unsigned + other.unsigned,
            self.odd_ids + other.odd_ids,
            self.signed + other.signed,
            self.calling + other.calling,
            self.server_open + other.server_open,
            self.server_late + other.server_late,
            self.cached + other.cached,
        )


NOTHING = Measure()


def add_counts(one: Counts, other: Counts) -> Counts:
    if not other:
        return one
    if not one:
        return other
    both = dict(one)
    for provider, counts in other.items():
        known = both.get(provider)
        both[provider] = [a + b for a, b in zip(known, counts, strict=True)] if known else counts
    return both


def subtract_counts(one: Counts, other: Counts) -> Counts:
    left = {name: [a - b for a, b in zip(counts, other.get(name, [0] * len(counts)), strict=True)] for name, counts in one.items()}
    return {name: counts for name, counts in left.items() if any(counts)}


def add_up(measures: Iterable[Measure]) -> Measure:
    parts = list(measures)
    if not parts:
        return NOTHING
    headers, pairs, messages, size, header_size, invalid, problems, usage, rules, began, ended, *numbers = zip(*parts, strict=True)
    return Measure(
        sum(headers),
        sum(pairs),
        sum(messages),
        sum(size),
        sum(header_size),
        sum(invalid),
        reduce(add_counts, problems, {}),
        reduce(add_counts, usage, {}),
        reduce(add_counts, rules, {}),
        min(filter(None, began), default=0),
        max(ended),
        *map(sum, numbers),
    )


Counted = Iterable[tuple[Sequence[list[Any]], int]]
"""Lists of packed problems (rows.py), each with the number of rows that have it. In a problem, the severity is at 1, the key at 5,
and the number of further problems that it stands for at 9."""


def count_rules(counted: Counted) -> Counts:
    """Count packed problems by their rule."""
    counts: Counts = {}
    for problems, rows in counted:
        for problem in problems:
            name = problem[0] if problem[5] in ("", OPENING) else f"{problem[5]}:{problem[0]}"
            counts.setdefault(name, [0])[0] += rows * (1 + sum(problem[9:]))
    return counts


def count_problems(counted: Counted) -> Counts:
    """Count packed problems by their key and severity."""
    counts: Counts = {}
    for problems, rows in counted:
        for problem in problems:
            counts.setdefault(problem[5], [0] * len(SEVERITIES))[problem[1]] += rows * (1 + sum(problem[9:]))
    return counts


class Charts:
    """Bytes by role and by tool of one snapshot. An edit takes the old rows out and adds the new ones."""

    def __init__(
        self,
        roles: Counts | None = None,
        tools: Counts | None = None,
        beside: Counts | None = None,
        times: Iterable[int] = (),
        last_call: Sequence[int] = (),
    ) -> None:
        self.roles = roles or {}
        """By role: messages, bytes."""
        self.tools = tools or {}
        """By tool name: calls, bytes of calls, results, bytes of results, results that are errors."""
        self.beside = beside or {}
        """Tokens that the document records beside its messages, by model."""
        self.times = Times(*times)
        """The times that the document records beside its messages."""
        self.last_call = tuple(last_call)
        """The last call that the document records beside its messages: core's TokenUsage, then the context window or 0;
        () if there is none."""

    def add(self, row: Sequence[Shape], sign: int = 1) -> None:
        """Add the messages of a row, or take them out (-1). A result without a name counts for its call's tool."""
        names: dict[str, str] = {}
        for message in row:
            role = _sums(self.roles, message.role, 2)
            role[0] += sign
            role[1] += sign * message.size
            for size, id, name, is_result, is_error in _used(message):
                if is_result:
                    name = name or names.get(id, "")
                else:
                    names[id] = name
                tool = _sums(self.tools, name, 5)
                tool[2 * is_result] += sign
                tool[2 * is_result + 1] += sign * size
                tool[4] += sign * is_error
        if sign < 0:
            _drop_empty(self.roles)
            _drop_empty(self.tools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Charts) and vars(self) == vars(other)

    def packed(self) -> bytes:
        return pack([self.roles, self.tools, self.beside, self.times, self.last_call])


def _used(message: Shape) -> list[tuple[int, str, str, bool, bool]]:
    """Return size, id and tool name of calls and results, whether each is a result, and whether it is an error."""
    if isinstance(message, StoredShape):
        used = [shape for shape in message.parts if shape.kind in ("tool_call", "tool_result")]
        return [(each.size, each.id, each.name, each.kind == "tool_result", each.flag and each.kind == "tool_result") for each in used]
    assert isinstance(message, Message)
    parts = [part for part in message.parts if isinstance(part, (ToolCall, ToolResult))]
    return [
        (each.size, each.call_id, each.name, True, each.is_error)
        if isinstance(each, ToolResult)
        else (each.size, each.id, each.name, False, False)
        for each in parts
    ]


def _sums(totals: dict[str, list[int]], name: str, width: int) -> list[int]:
    found = totals.get(name)
    if found is None:
        found = totals[name] = [0] * width
    return found


def _drop_empty(totals: dict[str, list[int]]) -> None:
    for name in [name for name, sums in totals.items() if not any(sums)]:
        del totals[name]


def unpack_charts(packed: Any) -> Charts:
    return Charts(*unpack(packed))
