"""Rows of an outline, each a header message or a body pair, and how messages are cut into them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, reduce
from typing import Any, Generic, NamedTuple, TypeVar

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem, place_in_words
from chainviz.core.chain.tree import BodyPair, PairType
from chainviz.core.providers.rules import Mark, marked_part, marks_of
from chainviz.core.providers.server_blocks import marked_blocks
from chainviz.core.usage.recorded import recorded_in
from chainviz.core.usage.times import NO_TIMES, Times, times_of
from chainviz.store.content.pieces import Piece
from chainviz.store.outline.measures import NOTHING, OPENING, Counts, Measure, add_counts, count_problems, count_rules

M = TypeVar("M", bound=Shape)
_MARKS = tuple(map(int, Mark))
"""The marks as numbers, because an IntFlag is slow and every row is measured."""
_MARK_BITS = len(_MARKS)


class Kind(IntEnum):
    SYSTEM = 0
    HUMAN = 1
    REQUEST_RESPONSE = 2
    COMPLETION = 3
    SUMMARIZATION = 4
    NO_AI = 5
    """A pair without AI message."""

    @property
    def is_header(self) -> bool:
        return self <= LAST_HEADER

    @property
    def pair_type(self) -> PairType | None:
        return _PAIR_TYPES.get(self)


LAST_HEADER = int(Kind.HUMAN)
_PAIR_TYPES = {
    Kind.REQUEST_RESPONSE: PairType.REQUEST_RESPONSE,
    Kind.COMPLETION: PairType.COMPLETION,
    Kind.SUMMARIZATION: PairType.SUMMARIZATION,
    Kind.NO_AI: PairType.REQUEST_RESPONSE,
}
_KINDS = {type: kind for kind, type in _PAIR_TYPES.items() if kind is not Kind.NO_AI}


class Row(NamedTuple):
    kind: Kind
    messages: int
    size: int
    valid: bool
    problems: list[list[Any]]
    """Packed problems; see `pack_problem`."""
    usage: Counts = {}
    """Recorded tokens by model."""
    marks: int = 0
    """The marks of its AI message (providers/section_rules.py) in the lowest bits, and the part index of its first call above them."""
    began: int = 0
    """The times of its first and last message, as in core's Times."""
    ended: int = 0
    cached: int = 0
    """The number of blocks with cache_control (core's cache_marks)."""
    tools: dict[str, int] = {}
    """The number of calls of each tool in its AI message."""

    @property
    def measure(self) -> Measure:
        return measure_rows((self,))


def measure_rows(rows: Sequence[Row]) -> Measure:
    """Return the sum over rows. Rows that share a list of problems, or have the same marks, are counted together, because most rows of a
    long chain do."""
    if not rows:
        return NOTHING
    kinds, messages, sizes, valid, problems, usage, marks, began, ended, cached, _ = zip(*rows, strict=True)
    header_sizes = [size for kind, size in zip(kinds, sizes, strict=True) if kind <= LAST_HEADER]
    headers, alike = len(header_sizes), Counter[int](marks)
    times = Counter(map(id, filter(None, problems)))
    counted = [(each, times.pop(id(each))) for each in problems if id(each) in times]
    marked = [sum([count for value, count in alike.items() if value & mark]) for mark in _MARKS]
    numbers = *marked, sum(cached)
    return Measure(
        headers,
        len(kinds) - headers,
        sum(messages),
        sum(sizes),
        sum(header_sizes),
        valid.count(False),
        count_problems(counted),
        reduce(add_counts, filter(None, usage), {}),
        count_rules(counted),
        min(filter(None, began), default=0),
        max(ended),
        *numbers,
    )


@dataclass(frozen=True)
class RowMessages(Generic[M]):
    """The messages of one row, before its problems are known."""

    messages: tuple[M, ...]

    @property
    def is_header(self) -> bool:
        return self.messages[0].role in (SYSTEM, HUMAN)

    @cached_property
    def pair(self) -> BodyPair[M]:
        if self.messages[0].role == AI:
            return BodyPair(self.messages[0], self.messages[1:])
        return BodyPair(None, self.messages)

    def row(self, problems: list[list[Any]]) -> Row:
        recording = [each for each in self.messages if isinstance(each, Message) and not _is_bare(each)]
        times = _times(recording) if recording else NO_TIMES
        cached = sum([1 for each in recording for _ in marked_blocks(each)]) if recording else 0
        size = sum([each.size for each in self.messages])
        if self.is_header:
            kind = Kind.SYSTEM if self.messages[0].role == SYSTEM else Kind.HUMAN
            return Row(kind, 1, size, True, problems, {}, 0, *times, cached)
        pair = self.pair
        kind = Kind.NO_AI if pair.ai is None else _KINDS[pair.type]
        # only the AI message, which is the first of its pair, records usage
        usage = _usage(recording[0]) if recording else {}
        tools: dict[str, int] = {}
        for call in pair.ai.calls if pair.ai else ():
            tools[call.name] = tools.get(call.name, 0) + 1
        return Row(kind, len(self.messages), size, pair.is_valid, problems, usage, _marks(pair.ai), *times, cached, tools)


_BARE = frozenset(("role", "content", "tool_calls", "tool_call_id"))


def _is_bare(message: Message) -> bool:
    """Return True, cheaply, for most messages: the source has only a role, a text and calls, so it records no usage, times or cache
    marks."""
    source = message.source
    if len(source) == 1 and source[0].is_usual:
        return True
    value = source[0].value if len(source) == 1 else None
    if type(value) is not dict or not value.keys() <= _BARE:
        return False
    return dict not in map(type, value.values()) and type(value.get("content")) is not list


def _usage(message: Message) -> Counts:
    found = recorded_in(message)
    return {found[0]: list(found[1])} if found is not None else {}


def _times(messages: Iterable[Message]) -> Times:
    found = NO_TIMES
    for message in messages:
        if (own := times_of(message)) is not NO_TIMES:
            found |= own
    return found


def _marks(ai: Shape | None) -> int:
    if not isinstance(ai, Message):
        return 0
    marks = int(marks_of(ai))
    return marks | marked_part(ai) << _MARK_BITS if marks else 0


def cut_rows(messages: Iterable[M]) -> Iterator[RowMessages[M]]:
    """Cut messages into rows by the rules of `parse` in core/chain/tree.py."""
    pair: list[M] = []
    for message in messages:
        is_header = message.role in (SYSTEM, HUMAN)
        if pair and (is_header or message.role == AI):
            yield RowMessages(tuple(pair))
            pair = []
        if is_header:
            yield RowMessages((message,))
        else:
            pair.append(message)
    if pair:
        yield RowMessages(tuple(pair))


PLACE, INDEX = "\x01P", "\x01M"
"""Placeholders in the text of a packed problem for the place in words and the index of the message."""


def pack_problem(problem: Problem, offset: int, key: str) -> list[Any]:
    """Pack a problem without its absolute place, so that it stays valid when messages before it change.

    `offset` is the index of the message in its row. The problem is counted under `key`, its provider or OPENING.
    """
    index = problem.message
    text = problem.text.replace(place_in_words(problem.path), PLACE)
    text = text.replace(f"messages.{index}", f"messages.{INDEX}").replace(f"messages[{index}]", f"messages[{INDEX}]")
    path = problem.path
    depth = 1 if path.pair is None else 2 if path.message is None else 3 if path.part is None else 4
    part = -1 if problem.part is None else problem.part
    severity = SEVERITIES.index(problem.severity)
    packed = [problem.rule, severity, offset, part, depth, key, text, list(problem.fixes), problem.source]
    return [*packed, problem.alike] if problem.alike else packed


def unpack_problem(packed: list[Any], kind: Kind, path: Path, index: int) -> Problem:
    """Return the problem of a row that has this path and whose first message has this index."""
    rule, severity, offset, part, depth, key, text, fixes, source, *alike = packed
    if depth > 2 and not kind.is_header:
        path = Path(path.section, path.pair, offset + (kind is Kind.NO_AI), None)
    if depth == 1:
        path = Path(path.section)
    elif depth == 2:
        path = Path(path.section, path.pair)
    elif depth == 4:
        path = Path(path.section, path.pair, path.message, part)
    index += offset
    text = text.replace(PLACE, place_in_words(path)).replace(INDEX, str(index))
    provider = "" if key == OPENING else key
    place = path, index, None if part < 0 else part
    return Problem(rule, SEVERITIES[severity], *place, text, tuple(fixes), provider, source, *alike)


COUNTED = 2_048
"""The longest section, in rows, whose calls are counted, so that an edit in a long section reads few rows."""
NAMED = 64
"""The number of rows in a longer section whose tools are named."""


@dataclass(frozen=True, slots=True)
class SectionRow:
    measure: Measure
    first: Piece
    """Its first message."""
    tools: dict[str, int]
    """The number of calls of each tool. A section of more than COUNTED rows names only some tools, with 0 calls."""


def count_tools(rows: Sequence[Row]) -> dict[str, int]:
    """Return SectionRow.tools for a section with these rows."""
    if len(rows) > COUNTED:
        return {name: 0 for row in rows[:NAMED] for name in row.tools}
    counts = Counter[str]()
    for row in rows:
        if row.tools:
            counts.update(row.tools)
    return dict(counts)


def pack_row(row: Row) -> list[Any]:
    packed: list[Any] = [int(row.kind), row.messages, row.size, int(row.valid) + 2 * row.marks]
    facts = [row.tools, row.problems, row.usage, row.began, row.ended, row.cached]
    while facts and not facts[-1]:
        facts.pop()
    return packed + facts


def unpack_row(packed: list[Any]) -> Row:
    kind, messages, size, flags, *facts = packed
    others: list[Any] = [{}, [], {}, 0, 0, 0]
    tools, problems, usage, began, ended, cached = facts + others[len(facts) :]
    return Row(Kind(kind), messages, size, bool(flags & 1), problems, usage, flags >> 1, began, ended, cached, tools)
