"""A chain without its first messages, for an operation that must leave those alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message, Shape, ShapeInChain
from chainviz.core.chain.parse import parse
from chainviz.core.chain.paths import Path
from chainviz.core.chain.surroundings import Surroundings
from chainviz.core.chain.tree import ChainAST, span


@dataclass(frozen=True)
class Tail:
    """The messages of `chain` from `start`; its places and paths are its own."""

    chain: Chain
    start: int

    @property
    def format(self) -> str:
        return self.chain.format

    def __len__(self) -> int:
        return len(self.chain) - self.start

    def __getitem__(self, index: int) -> Message:
        return self.chain[self.start + index]

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        return self.chain.slice(self.start + start, self.start + stop)

    def shapes(self) -> Sequence[Shape]:
        return self.chain.shapes()[self.start :]

    def shapes_in(self, start: int, stop: int) -> Sequence[ShapeInChain]:
        return self.chain.shapes_in(self.start + max(0, start), self.start + stop)

    @property
    def surroundings(self) -> Surroundings:
        return self.chain.surroundings

    @cached_property
    def tree(self) -> ChainAST[Shape]:
        return parse(self.shapes())

    def signed(self, start: int) -> Iterator[int]:
        return (place - self.start for place in self.chain.signed(self.start + start))

    def span(self, path: Path) -> range:
        return span(self.tree, path)
