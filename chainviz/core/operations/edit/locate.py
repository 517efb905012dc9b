"""Finds what a path names, reading only around it, and tells a person what to do where it is not clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Message, Part
from chainviz.core.chain.paths import Path
from chainviz.core.errors import PathError, Refused

P = TypeVar("P", bound=Part)


class Change(NamedTuple):
    """What an action does, and one sentence about it."""

    splices: tuple[Splice, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Place:
    chain: Chain
    path: Path

    @property
    def span(self) -> range:
        """Places of the messages of the node (of the part's message)."""
        return self.chain.span(Path(self.path.section, self.path.pair, self.path.message))

    @property
    def pair_span(self) -> range:
        """Places of the messages of the pair around it; of itself in a header."""
        return self.chain.span(Path(self.path.section, self.path.pair)) if self.path.pair else self.span

    def messages(self) -> Sequence[Message]:
        return self.chain.slice(self.span.start, self.span.stop)

    def one_message(self) -> tuple[int, Message]:
        """The place of the one message that the path names, and the message."""
        if self.path.pair is None:
            raise Refused(f"{self.path} is a section; choose one of its messages, such as {self.path}.p1.m0.")
        if len(self.span) != 1:
            raise Refused(
                f"{self.path} has {len(self.span)} messages; choose one of them, such as {self.path}.m{self._some_message}."
            )
        return self.span.start, self.chain[self.span.start]

    @property
    def _some_message(self) -> int:
        return 0 if self.path.pair == 0 or self.chain[self.span.start].role == "ai" else 1

    def some_part(self, message: Message) -> tuple[int, Part]:
        """The part that the path names, whatever it is."""
        number = self.path.part
        if number is None or number >= len(message.parts):
            raise PathError(f"{self.path} is not in this chain: the message has {len(message.parts)} parts.")
        return number, message.parts[number]

    def one_part(self, message: Message, noun: str, *kinds: type[P]) -> tuple[int, P]:
        """The part of these kinds that the path names, or the only one of the message."""
        if self.path.part is not None:
            number, part = self.some_part(message)
            if not isinstance(part, kinds):
                raise Refused(f"{self.path} is not a {noun}.")
            return number, part
        found = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, kinds)]
        if len(found) != 1:
            problem = f"has {len(found)} parts that are a {noun}; choose one" if found else f"has no {noun}"
            raise Refused(f"{self.path} {problem}.")
        return found[0]


def neighbour(chain: Chain, path: Path, step: int) -> range | None:
    """The span of the node before or after of the same parent; None where there is none."""
    numbers = [path.section, path.pair, path.message]
    deepest = max(i for i, number in enumerate(numbers) if number is not None)
    number = (numbers[deepest] or 0) + step
    if number < (0 if deepest == 2 else 1):
        return None
    numbers[deepest] = number
    section, pair, message = numbers
    try:
        return chain.span(Path(section or 1, pair, message))
    except PathError:
        return None


def replaced_part(message: Message, place: int, part: Part) -> tuple[Part, ...]:
    return (*message.parts[:place], part, *message.parts[place + 1 :])


def splices_for(changed: dict[int, tuple[Message, ...]]) -> tuple[Splice, ...]:
    """Each message at a place gives way to those given for it."""
    return tuple(Splice(place, 1, messages) for place, messages in sorted(changed.items()))
