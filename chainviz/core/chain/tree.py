"""ChainAST: chain > sections > header and body pairs (seed 0). Holds messages in place; flatten gives back the same list."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Generic, TypeVar

from chainviz.core.chain.calls.matching import ToolCalls, match_calls
from chainviz.core.chain.messages import CallRef, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.errors import PathError

M = TypeVar("M", bound=Shape, covariant=True)

SUMMARIZATION_TOOL = "execute_task_and_return_summary"


class PairType(StrEnum):
    REQUEST_RESPONSE = "request-response"
    COMPLETION = "completion"
    SUMMARIZATION = "summarization"


@dataclass(frozen=True)
class BodyPair(Generic[M]):
    """An AI message and what follows it. `ai` is None where messages that need one lack it."""

    ai: M | None
    rest: tuple[M, ...] = ()

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
        """The usual pair, told quickly: tool messages answer each call once, in order. It is valid and has no problem."""
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
        """Seed 0, Body Pair Validation."""
        if self.is_plain or self.ai is None:
            return self.is_plain
        if self.type is PairType.COMPLETION:
            return not self.rest
        calls = self.tool_calls
        enough = len(self.rest) == 1 if self.type is PairType.SUMMARIZATION else bool(self.rest)
        return enough and not calls.pending and not calls.unmatched

    @property
    def messages(self) -> tuple[M, ...]:
        return self.rest if self.ai is None else (self.ai, *self.rest)


@dataclass(frozen=True)
class Section(Generic[M]):
    header: tuple[M, ...] = ()
    body: tuple[BodyPair[M], ...] = ()

    @cached_property
    def header_size(self) -> int:
        return sum([m.size for m in self.header])

    @cached_property
    def size(self) -> int:
        return self.header_size + sum([pair.size for pair in self.body])

    @property
    def messages(self) -> tuple[M, ...]:
        return (*self.header, *(m for pair in self.body for m in pair.messages))

    def __len__(self) -> int:
        return len(self.header) + sum([len(pair.rest) + (pair.ai is not None) for pair in self.body])


@dataclass(frozen=True)
class ChainAST(Generic[M]):
    sections: tuple[Section[M], ...] = field(default=())

    @cached_property
    def size(self) -> int:
        return sum([section.size for section in self.sections])

    @property
    def messages(self) -> tuple[M, ...]:
        return tuple(flatten(self))

    def pairs(self) -> Iterator[tuple[Path, BodyPair[M]]]:
        for s, section in enumerate(self.sections, 1):
            for p, pair in enumerate(section.body, 1):
                yield Path(s, p), pair


def flatten(tree: ChainAST[M]) -> Iterator[M]:
    for section in tree.sections:
        yield from section.header
        for pair in section.body:
            if pair.ai is not None:
                yield pair.ai
            yield from pair.rest


def span(tree: ChainAST[M], path: Path) -> range:
    """The places in the flat list of the messages under `path`; PathError where the tree has no such node."""
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
    # m0 is reserved for the AI message even where there is none
    place = path.message if pair.ai is not None else path.message - 1
    return _message_span(path, start, len(pair.messages), place)


def _message_span(path: Path, start: int, count: int, place: int | None) -> range:
    if place is None:
        return range(start, start + count)
    if not 0 <= place < count:
        raise PathError(f"{path} is not in this chain: there are {count} messages in that place.")
    return range(start + place, start + place + 1)


def match_results(pair: BodyPair[M]) -> list[tuple[CallRef, tuple[int, CallRef] | None]]:
    """Which result is shown beside which call: same id, in order of appearance (ids repeat in real transcripts).

    Each call comes with `(index in rest, result)` or None; results of no call are left out.
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
