"""Tool results outside the row of their call, which an API that pairs calls and results by id takes all the same.

Which ids these are, the whole chain decides. An outline keeps them; an edit that may change them reads the ids of the whole
chain again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Shape
from chainviz.core.providers.check import JoinedResults
from chainviz.store.content.message_reader import read_shapes
from chainviz.store.content.pieces import Piece, PlacedMessage, PlacedSplice, spliced


class LateIds(NamedTuple):
    """Ids of calls, each in alphabetical order."""

    late: tuple[str, ...] = ()
    """Calls with a later result, if some row has the call or the result without the other."""
    joined: tuple[str, ...] = ()
    """Calls whose result comes after later AI messages of the same run (core's JoinedResults)."""

    def changed(self, other: LateIds) -> set[str]:
        """Return the ids that only one of both has."""
        return ({*self.late} ^ {*other.late}) | ({*self.joined} ^ {*other.joined})


NO_LATE = LateIds()


class LateResults:
    """Takes the messages of a chain in order."""

    def __init__(self) -> None:
        self._joined = JoinedResults()
        self._called: set[str] = set()
        self._answered: set[str] = set()
        """Ids of calls that have a later result."""
        self._open: set[str] = set()
        """Ids of which some row has a call or a result without the other."""
        self._row: frozenset[str] = frozenset()
        """Ids of the calls of the current row."""
        self._waiting: set[str] = set()

    def add(self, message: Shape) -> None:
        self._joined.add(message)
        if message.role in (SYSTEM, HUMAN, AI):
            self._open |= self._waiting
            self._row = frozenset([call.id for call in message.calls])
            self._waiting = set(self._row)
            self._called |= self._row
        for result in message.results:
            self._waiting.discard(result.id)
            if result.id not in self._row:
                self._open.add(result.id)
            if result.id in self._called:
                self._answered.add(result.id)

    @property
    def ids(self) -> LateIds:
        return LateIds(tuple(sorted((self._open | self._waiting) & self._answered)), tuple(sorted(self._joined.ids)))


def late_results(messages: Iterable[Shape]) -> LateIds:
    """Return the ids of a whole chain."""
    late = LateResults()
    for message in messages:
        late.add(message)
    return late.ids


def late_after(pieces: Sequence[Piece], changes: Sequence[PlacedSplice]) -> LateIds:
    """Return the ids of a chain after changes."""
    return late_results(_shapes_after(pieces, changes))


def _shapes_after(pieces: Sequence[Piece], changes: Sequence[PlacedSplice]) -> Iterator[Shape]:
    for part in spliced(pieces, changes):
        if isinstance(part, PlacedMessage):
            yield part.message
        else:
            yield from read_shapes(part)


def messages_with(pieces: Sequence[Piece], ids: set[str]) -> Iterator[int]:
    """Yield the indexes of messages that have a call or a result of these ids."""
    for index, shape in enumerate(read_shapes(pieces)):
        if any(ref.id in ids for ref in (*shape.calls, *shape.results)):
            yield index
