"""Which calls repeat an id used before, when messages change. The one thing that no stretch of a chain can tell alone.

An edit that leaves the calls of its rows as they are (nearly all do) takes the answers from the old rows. Else the ids
of the chain are read once, without anything else, and rows far away that now are or no longer are the first of an id
are judged again too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from chainviz.core.chain.messages import CallRef
from chainviz.store.content.message_reader import read_calls
from chainviz.store.content.pieces import Cursor, Piece, Places, join
from chainviz.store.outline.problem_rules import ID_RULES
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import Row


class Place(NamedTuple):
    run: int
    position: int
    part: int


class Used(NamedTuple):
    id: str
    place: Place


def was_repeated(row: Row, call: CallRef) -> bool:
    return any(problem[0] in ID_RULES and problem[3] == call.part for problem in row.problems)


def used_by(piece: Piece, calls: Iterable[CallRef]) -> Iterator[Used]:
    for call in calls:
        yield Used(call.id, Place(piece.run, piece.start, call.part))


class FirstUses:
    """Where each id is used first, before an edit and after it."""

    def __init__(self, outline: OutlineReader, changes: Sequence[Any]) -> None:
        self._pieces = outline.pieces(0, outline.listing.total.messages)
        self._placed = Places(self._pieces)
        self.before = self._first(self._in(self._pieces))
        self.after = self._first(self._changed(self._pieces, changes))

    def _first(self, uses: Iterable[Used]) -> dict[str, Place]:
        first: dict[str, Place] = {}
        for use in uses:
            first.setdefault(use.id, use.place)
        return first

    def _in(self, pieces: Iterable[Piece]) -> Iterator[Used]:
        for run, position, calls in read_calls(pieces):
            yield from used_by(Piece(run, position, 1), calls)

    def _changed(self, old: Sequence[Piece], changes: Sequence[Any]) -> Iterator[Used]:
        cursor = Cursor(old)
        place = 0
        for change in changes:
            yield from self._in(join(cursor.take(change.start - place)))
            for placed in change.placed:
                yield from used_by(placed.piece, placed.message.calls)
            cursor.skip(change.removed)
            place = change.start + change.removed
        yield from self._in(join(cursor.rest()))

    def moved(self) -> set[int]:
        """Messages of the old chain that were the first of an id and no longer are, or the other way round."""
        places = set()
        for id in self.before.keys() | self.after.keys():
            old, new = self.before.get(id), self.after.get(id)
            if old != new:
                places |= {place[:2] for place in (old, new) if place is not None}
        found = (self._placed.index(run, position) for run, position in places)
        return {index for index in found if index >= 0}

    def is_repeated(self, use: Used) -> bool:
        return self.after.get(use.id) != use.place
