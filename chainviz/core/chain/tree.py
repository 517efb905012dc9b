"""ChainAST, the tree of a chain: sections, each with a header and body pairs, parsed from a flat list of messages.

`parse` is total: every list has a tree, and `flatten(parse(messages))` is the same list. A system or human message after a
body opens a section, an AI message opens a pair, and every other message joins the open pair, or a pair without an AI message.
Calls and results are matched by id within their pair.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Generic, TypeVar

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, CallRef, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.errors import PathError


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The call ids of one pair, sorted, by state: without a result, a result without a call, or answered."""

    pending: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()


def match_calls(calls: Iterable[CallRef], results: Iterable[CallRef]) -> ToolCalls:
    """Sort the ids of a pair by state. Calls that share an id count once; a second result with the same id is unmatched."""
    open_ids = {call.id for call in calls}
    completed: set[str] = set()
    unmatched: set[str] = set()
    for result in results:
        if result.id in open_ids:
            open_ids.discard(result.id)
            completed.add(result.id)
        else:
            unmatched.add(result.id)
    return ToolCalls(tuple(sorted(open_ids)), tuple(sorted(unmatched)), tuple(sorted(completed)))


def misnamed_results(calls: Iterable[CallRef], results: Iterable[tuple[int, CallRef]]) -> list[tuple[tuple[int, CallRef], CallRef]]:
    """Return the results of a pair that name another function than their calls, each with the call that it answers by its place.

    They are results without an id, whose ids are made from their names, and as many as the calls without a result. `results` are the
    results with the places of their messages."""
    given = list(results)
    answered = {ref.id for _, ref in given}
    asked = list(calls)
    known, names = {call.id for call in asked}, {call.name for call in asked}
    open_calls = [call for call in asked if call.id not in answered]
    strange = [each for each in given if each[1].id not in known]
    is_unnamed = all(ref.id.partition("#")[0] == ref.name and ref.name not in names for _, ref in strange)
    return list(zip(strange, open_calls, strict=True)) if is_unnamed and len(strange) == len(open_calls) else []


M_co = TypeVar("M_co", bound=Shape, covariant=True)

SUMMARIZATION_TOOL = "execute_task_and_return_summary"


class PairType(StrEnum):
    REQUEST_RESPONSE = "request-response"
    COMPLETION = "completion"
    SUMMARIZATION = "summarization"


@dataclass(frozen=True)
class BodyPair(Generic[M_co]):
    """An AI message and the messages that follow it. `ai` is None for messages without an AI message before them."""

    ai: M_co | None
    rest: tuple[M_co, ...] = ()

    @cached_property
    def size(self) -> int:
        return (self.ai.size if self.ai is not None else 0) + sum([m.size for m in self.rest])

    @property
    def type(self) -> PairType:
        if self.ai is None:
            return PairType.REQUEST_RESPONSE
        if not self.ai.calls:
            return PairType.COMPLETION
        summary = self.ai.calls[0].name == SUMMARIZATION_TOOL
        return PairType.SUMMARIZATION if summary else PairType.REQUEST_RESPONSE

    @cached_property
    def is_plain(self) -> bool:
        """Return True for the common case, cheaply: each call is answered once, in order, so the pair is valid."""
        if self.ai is None:
            return False
        calls = [call.id for call in self.ai.calls]
        results = [result.id for message in self.rest for result in message.results]
        if calls != results or len(set(calls)) < len(calls) or not all(message.results for message in self.rest):
            return False
        return len(self.rest) < 2 or self.type is not PairType.SUMMARIZATION

    @cached_property
    def tool_calls(self) -> ToolCalls:
        calls = self.ai.calls if self.ai is not None else ()
        return match_calls(calls, (result for message in self.rest for result in message.results))

    @property
    def is_valid(self) -> bool:
        """Return True if every call has a result and every result a call. A completion has no results, a summary has one."""
        if self.is_plain or self.ai is None:
            return self.is_plain
        if self.type is PairType.COMPLETION:
            return not self.rest
        calls = self.tool_calls
        enough = len(self.rest) == 1 if self.type is PairType.SUMMARIZATION else bool(self.rest)
        return enough and not calls.pending and not calls.unmatched

    @property
    def messages(self) -> tuple[M_co, ...]:
        return self.rest if self.ai is None else (self.ai, *self.rest)


@dataclass(frozen=True)
class Section(Generic[M_co]):
    header: tuple[M_co, ...] = ()
    body: tuple[BodyPair[M_co], ...] = ()

    @cached_property
    def header_size(self) -> int:
        return sum([m.size for m in self.header])

    @cached_property
    def size(self) -> int:
        return self.header_size + sum([pair.size for pair in self.body])

    @property
    def messages(self) -> tuple[M_co, ...]:
        return (*self.header, *chain.from_iterable([pair.messages for pair in self.body]))

    def __len__(self) -> int:
        return len(self.header) + sum([len(pair.rest) + (pair.ai is not None) for pair in self.body])


@dataclass(frozen=True)
class ChainAST(Generic[M_co]):
    sections: tuple[Section[M_co], ...] = field(default=())

    @cached_property
    def size(self) -> int:
        return sum([section.size for section in self.sections])

    @property
    def messages(self) -> tuple[M_co, ...]:
        return tuple(flatten(self))

    def pairs(self) -> Iterator[tuple[Path, BodyPair[M_co]]]:
        for s, section in enumerate(self.sections, 1):
            for p, pair in enumerate(section.body, 1):
                yield Path(s, p), pair


def flatten(tree: ChainAST[M_co]) -> Iterator[M_co]:
    for section in tree.sections:
        yield from section.header
        for pair in section.body:
            if pair.ai is not None:
                yield pair.ai
            yield from pair.rest


def span(tree: ChainAST[M_co], path: Path) -> range:
    """Return the indexes of the messages under `path` in the flat list. Raises PathError if the tree has no such node."""
    start = 0
    if path.section > len(tree.sections):
        raise PathError(f"{path} is not in this chain: it has {len(tree.sections)} sections.")
    for section in tree.sections[: path.section - 1]:
        start += len(section)
    section = tree.sections[path.section - 1]
    if path.pair is None:
        return range(start, start + len(section))
    if path.pair == 0:
        return _message_span(path, start, len(section.header), path.message)
    if path.pair > len(section.body):
        raise PathError(f"{path} is not in this chain: section {path.section} has {len(section.body)} pairs.")
    start += len(section.header) + sum([len(pair.messages) for pair in section.body[: path.pair - 1]])
    pair = section.body[path.pair - 1]
    if path.message is None:
        return range(start, start + len(pair.messages))
    # m0 is reserved for the AI message even if there is none
    place = path.message if pair.ai is not None else path.message - 1
    return _message_span(path, start, len(pair.messages), place)


def _message_span(path: Path, start: int, count: int, place: int | None) -> range:
    if place is None:
        return range(start, start + count)
    if not 0 <= place < count:
        raise PathError(f"{path} is not in this chain: there are {count} messages in that place.")
    return range(start + place, start + place + 1)


def match_results(pair: BodyPair[M_co]) -> list[tuple[CallRef, tuple[int, CallRef] | None]]:
    """Match each call of a pair with its result: `(call, (index in rest, result))`, or `(call, None)` if it has none.

    Ids repeat in real transcripts, so equal ids match in order of appearance. Results without a call are left out.
    """
    waiting: dict[str, deque[tuple[int, CallRef]]] = {}
    for i, message in enumerate(pair.rest):
        for result in message.results:
            waiting.setdefault(result.id, deque()).append((i, result))
    calls = pair.ai.calls if pair.ai is not None else ()
    matched = []
    for call in calls:
        queue = waiting.get(call.id)
        matched.append((call, queue.popleft() if queue else None))
    return matched


M = TypeVar("M", bound=Shape)


def parse(messages: Iterable[M]) -> ChainAST[M]:
    sections: list[Section[M]] = []
    header: list[M] = []
    body: list[BodyPair[M]] = []
    ai: M | None = None
    rest: list[M] = []

    def close_pair() -> None:
        nonlocal ai, rest
        if ai is not None or rest:
            body.append(BodyPair(ai, tuple(rest)))
        ai, rest = None, []

    def close_section() -> None:
        nonlocal header, body
        close_pair()
        if header or body:
            sections.append(Section(tuple(header), tuple(body)))
        header, body = [], []

    for message in messages:
        role = message.role
        if role in (SYSTEM, HUMAN):
            if ai is not None or rest or body:
                close_section()
            header.append(message)
        elif role == AI:
            close_pair()
            ai = message
        else:
            rest.append(message)
    close_section()
    return ChainAST(tuple(sections))


def message_paths(tree: ChainAST[M]) -> Iterator[Path]:
    """Yield the path of each message, in the order of `flatten`."""
    for s, section in enumerate(tree.sections, 1):
        yield from section_paths(section, s)


def section_paths(section: Section[M], number: int) -> Iterator[Path]:
    for m in range(len(section.header)):
        yield Path(number, 0, m)
    for p, pair in enumerate(section.body, 1):
        first = 0 if pair.ai is not None else 1
        for m in range(first, first + len(pair.messages)):
            yield Path(number, p, m)
