"""The chain that operations and pages work on: messages by index, a tree and a format. In memory here; `store` reads one lazily."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Protocol

from chainviz.core.chain.messages import Message, Shape, ShapeInChain
from chainviz.core.chain.paths import Path
from chainviz.core.chain.reasoning import thinks_signed
from chainviz.core.chain.surroundings import NO_SURROUNDINGS, Surroundings
from chainviz.core.chain.tree import ChainAST, M, parse, span


class Chain(Protocol):
    @property
    def format(self) -> str:
        """Name of the format the chain is written in."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> Message: ...

    def slice(self, start: int, stop: int) -> Sequence[Message]: ...

    def stream(self, start: int, stop: int) -> Iterator[Message]:
        """Yield messages `start : stop`. Unlike a slice, a long range needs little memory."""

    def shapes(self) -> Sequence[Shape]:
        """Return all messages without their bodies. The cost grows with the length of the chain."""

    def shapes_in(self, start: int, stop: int) -> Sequence[ShapeInChain]:
        """Return messages `start : stop` without their bodies."""

    @property
    def surroundings(self) -> Surroundings:
        """The content of the document beside the messages."""

    @property
    def tree(self) -> ChainAST[Shape]:
        """The tree over `shapes`. The cost grows with the length of the chain."""

    def signed(self, start: int) -> Iterator[int]:
        """Yield the indexes, from `start` on, of messages whose reasoning is signed by its provider. Must not read the bodies
        of other messages."""

    def span(self, path: Path) -> range:
        """Return the indexes of the messages under `path`, without reading the whole chain. Raises PathError if there
        is no such node."""


@dataclass(frozen=True)
class MemoryChain:
    """A chain with all its messages in memory."""

    messages: tuple[Message, ...]
    format: str = "neutral"
    surroundings: Surroundings = NO_SURROUNDINGS

    def __len__(self) -> int:
        return len(self.messages)

    def __getitem__(self, index: int) -> Message:
        return self.messages[index]

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        return self.messages[start:stop]

    def stream(self, start: int, stop: int) -> Iterator[Message]:
        return islice(self.messages, start, stop)

    def shapes(self) -> Sequence[Shape]:
        return self.messages

    def shapes_in(self, start: int, stop: int) -> Sequence[ShapeInChain]:
        return self.messages[max(0, start) : stop]

    @cached_property
    def tree(self) -> ChainAST[Message]:
        return parse(self.messages)

    def signed(self, start: int) -> Iterator[int]:
        return (place for place in range(start, len(self)) if thinks_signed(self.messages[place]))

    def span(self, path: Path) -> range:
        return span(self.tree, path)


@dataclass(frozen=True, slots=True)
class Splice:
    """A change: `messages` replace messages `start : start + removed`. Indexes are those of the chain before any change."""

    start: int
    removed: int
    messages: Sequence[Message] = ()

    @property
    def added(self) -> int:
        return len(self.messages)


def apply_splices(messages: Sequence[M], changes: Iterable[Splice]) -> tuple[M | Message, ...]:
    """Return the changed list. Raises ValueError for changes that overlap or are out of order."""
    result: list[M | Message] = []
    place = 0
    for change in changes:
        if change.start < place:
            raise ValueError("splices overlap or are out of order")
        result.extend(messages[place : change.start])
        result.extend(change.messages)
        place = change.start + change.removed
    result.extend(messages[place:])
    return tuple(result)
