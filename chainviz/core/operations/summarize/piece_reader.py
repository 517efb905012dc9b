"""Where the nodes of a piece lie in the flat list, and their messages. Reads the bodies that are asked for and no others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import HUMAN, SYSTEM, Message, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import BodyPair, Section
from chainviz.core.operations.summarize.planning.plan import Material


class Reader:
    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    @cached_property
    def _starts(self) -> list[int]:
        return list(accumulate((len(section) for section in self.chain.tree.sections), initial=0))

    def header(self, number: int) -> range:
        start = self._starts[number - 1]
        return range(start, start + len(self.chain.tree.sections[number - 1].header))

    def sections(self, first: Path, last: Path) -> range:
        return range(self._starts[first.section - 1], self._starts[last.section])

    def span(self, first: Path, last: Path) -> range:
        """Places of the messages of neighbouring pairs."""
        assert first.pair is not None and last.pair is not None
        body = self.chain.tree.sections[first.section - 1].body
        start = self.header(first.section).stop + _count(body[: first.pair - 1])
        return range(start, start + _count(body[first.pair - 1 : last.pair]))

    def pairs(self, first: Path, last: Path) -> Material:
        """Pairs, or all pairs of sections, with the human messages they answer."""
        if first.pair is None:
            return self._joined(first, last)
        header, span = self.header(first.section), self.span(first, last)
        messages = tuple(self.chain.slice(span.start, span.stop))
        places = tuple(_places(self.chain.tree.sections[first.section - 1], first.section, first.pair, last.pair))
        return Material(self._humans(header), messages, places)

    def questions(self, first: Path, last: Path) -> Material:
        """What the person said in sections."""
        material = self._joined(first, last)
        places = tuple(
            Path(number, 0, m)
            for number in range(first.section, last.section + 1)
            for m, message in enumerate(self.chain.tree.sections[number - 1].header)
            if message.role == HUMAN
        )
        return Material(material.humans, (), places)

    def _joined(self, first: Path, last: Path) -> Material:
        span = self.sections(first, last)
        everything = self.chain.slice(span.start, span.stop)
        humans = tuple(message for message in everything if message.role == HUMAN)
        messages = tuple(message for message in everything if message.role not in (SYSTEM, HUMAN))
        places = tuple(
            place
            for number in range(first.section, last.section + 1)
            for place in _places(self.chain.tree.sections[number - 1], number)
        )
        return Material(humans, messages, places)

    def _humans(self, header: range) -> tuple[Message, ...]:
        return tuple(message for message in self.chain.slice(header.start, header.stop) if message.role == HUMAN)


def _count(body: tuple[BodyPair[Shape], ...]) -> int:
    return sum(len(pair.rest) + (pair.ai is not None) for pair in body)


def _places(section: Section[Shape], number: int, first: int = 1, last: int | None = None) -> Iterator[Path]:
    for p, pair in enumerate(section.body[first - 1 : last], first):
        ai = pair.ai is None  # m0 is reserved for the AI message even where there is none
        for m in range(ai, ai + len(pair.messages)):
            yield Path(number, p, int(m))
