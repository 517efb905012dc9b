"""Body pairs as places in a list of messages that is being repaired."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chainviz.core.chain.messages import TOOL, CallRef, Shape
from chainviz.core.chain.tree import ChainAST


@dataclass(slots=True)
class Turn:
    """One body pair."""

    ai: int | None
    rest: range
    calls: tuple[CallRef, ...]
    end: int
    """The place after which new messages of this pair go: its last tool message, before any message of another role."""


def turns_of(tree: ChainAST[Shape]) -> Iterator[Turn]:
    place = 0
    for section in tree.sections:
        place += len(section.header)
        for pair in section.body:
            ai = None if pair.ai is None else place
            start = place + (pair.ai is not None)
            place = start + len(pair.rest)
            tools = next((i for i, message in enumerate(pair.rest) if message.role != TOOL), len(pair.rest))
            yield Turn(ai, range(start, place), pair.ai.calls if pair.ai is not None else (), start + tools - 1)
