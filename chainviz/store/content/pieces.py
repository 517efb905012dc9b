"""Pieces of runs: what a snapshot consists of. Cuts, splices and packs lists of pieces; reads no database."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from chainviz.core.chain.messages import Message
from chainviz.store.content.codec import pack, unpack

_FAR = 1 << 62


class Piece(NamedTuple):
    """Messages `start : start + length` of a run."""

    run: int
    start: int
    length: int


class PieceSplice(NamedTuple):
    """Replaces messages `start : start + removed` of the parent with those of `pieces`."""

    start: int
    removed: int
    pieces: tuple[Piece, ...]


class PlacedMessage(NamedTuple):
    """A message and its place in the store."""

    message: Message
    piece: Piece
    digest: bytes


class PlacedSplice(NamedTuple):
    """A splice that replaces messages `start:start + removed` of the parent by messages that are stored in runs already."""

    start: int
    removed: int
    placed: tuple[PlacedMessage, ...]
    stored: int = 0
    """The size of `placed` in the source, in bytes."""

    @property
    def added(self) -> int:
        return len(self.placed)

    @property
    def pieces(self) -> PieceSplice:
        return PieceSplice(self.start, self.removed, tuple(join(one.piece for one in self.placed)))


def join(pieces: Iterable[Piece]) -> list[Piece]:
    """Describe the same messages by as few pieces as possible."""
    joined: list[Piece] = []
    open_run = open_start = open_end = 0
    for run, start, length in pieces:
        if run == open_run and start == open_end:
            open_end += length
        elif length:
            if open_end > open_start:
                joined.append(Piece(open_run, open_start, open_end - open_start))
            open_run, open_start, open_end = run, start, start + length
    if open_end > open_start:
        joined.append(Piece(open_run, open_start, open_end - open_start))
    return joined


def same_beginning(one: Iterable[Piece], other: Iterable[Piece]) -> int:
    """Return the number of messages that two lists share at their beginning."""
    same = 0
    for (run, start, length), (other_run, other_start, other_length) in zip(join(one), join(other), strict=False):
        if (run, start) != (other_run, other_start):
            break
        same += min(length, other_length)
        if length != other_length:
            break
    return same


def spliced(pieces: Iterable[Piece], changes: Iterable[PlacedSplice]) -> Iterator[list[Piece] | PlacedMessage]:
    """Yield the changed chain in order: the pieces that stay, and each message put in."""
    cursor = Cursor(pieces)
    place = 0
    for change in changes:
        yield join(cursor.take(change.start - place))
        yield from change.placed
        cursor.skip(change.removed)
        place = change.start + change.removed
    yield join(cursor.rest())


class Cursor:
    """Takes messages off a list of pieces, from its beginning."""

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._pieces = iter(pieces)
        self._open = Piece(0, 0, 0)

    def take(self, count: int) -> Iterator[Piece]:
        while count > 0:
            if not self._open.length:
                self._open = next(self._pieces)
            run, start, length = self._open
            taken = min(count, length)
            self._open = Piece(run, start + taken, length - taken)
            count -= taken
            yield Piece(run, start, taken)

    def skip(self, count: int) -> None:
        for _ in self.take(count):
            pass

    def rest(self) -> Iterator[Piece]:
        yield self._open
        yield from self._pieces


def cut(pieces: Iterable[Piece], start: int, stop: int) -> Iterator[Piece]:
    """Return the pieces of messages `start:stop`."""
    cursor = Cursor(pieces)
    cursor.skip(start)
    return cursor.take(stop - start)


def splice(pieces: Iterable[Piece], changes: Iterable[PieceSplice]) -> list[Piece]:
    """Return the changed list. Changes come in order and do not overlap."""
    cursor = Cursor(pieces)
    result: list[Piece] = []
    place = 0
    for change in changes:
        result += cursor.take(change.start - place)
        cursor.skip(change.removed)
        result += change.pieces
        place = change.start + change.removed
    result += cursor.rest()
    return join(result)


def differences(base: Sequence[Piece], other: Iterable[Piece]) -> list[PieceSplice]:
    """Return the splices that turn `base` into `other`. Messages are the same if they have the same place in a run; one
    that moved towards the beginning counts as inserted."""
    places = Places(base)
    found: list[PieceSplice] = []
    inserted: list[Piece] = []
    place = 0
    for piece in other:
        for index, part in places.segments(piece):
            if index < place:
                inserted.append(part)
                continue
            if index > place or inserted:
                found.append(PieceSplice(place, index - place, tuple(inserted)))
            place, inserted = index + part.length, []
    if place < total(base) or inserted:
        found.append(PieceSplice(place, total(base) - place, tuple(inserted)))
    return found


def total(pieces: Iterable[Piece]) -> int:
    return sum(piece.length for piece in pieces)


class Places:
    """Maps a message's index in a list of pieces to its place in a run, and back."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.starts = [0]
        for piece in self.pieces:
            self.starts.append(self.starts[-1] + piece.length)
        self._by_run: dict[int, list[tuple[int, int, int]]] = {}
        for piece, start in zip(self.pieces, self.starts, strict=False):
            self._by_run.setdefault(piece.run, []).append((piece.start, piece.length, start))
        for places in self._by_run.values():
            places.sort()

    def at(self, indexes: Iterable[int]) -> list[Piece]:
        found = []
        for index in indexes:
            i = bisect_right(self.starts, index) - 1
            piece = self.pieces[i]
            found.append(Piece(piece.run, piece.start + index - self.starts[i], 1))
        return found

    def between(self, start: int, stop: int) -> Iterable[Piece]:
        """Return the pieces of the messages `start:stop`."""
        if start >= stop:
            return ()
        first = bisect_right(self.starts, start) - 1
        before = self.starts[first]
        return cut(self.pieces[first : bisect_left(self.starts, stop)], start - before, stop - before)

    def index(self, run: int, position: int) -> int:
        """Return the index of a message, or -1 if the list does not contain it."""
        places = self._by_run.get(run, [])
        i = bisect_right(places, (position, _FAR, 0)) - 1
        if i < 0:
            return -1
        first, length, start = places[i]
        return start + position - first if position < first + length else -1

    def segments(self, piece: Piece) -> Iterator[tuple[int, Piece]]:
        """Cut the piece into parts that the list contains and parts that it does not; yield each with its index, or -1."""
        position, end = piece.start, piece.start + piece.length
        places = self._by_run.get(piece.run, [])
        i = max(0, bisect_right(places, (position, _FAR, 0)) - 1)
        while position < end:
            while i < len(places) and places[i][0] + places[i][1] <= position:
                i += 1
            if i == len(places) or places[i][0] >= end:
                yield -1, Piece(piece.run, position, end - position)
                return
            first, length, start = places[i]
            if first > position:
                yield -1, Piece(piece.run, position, first - position)
                position = first
            stop = min(end, first + length)
            yield start + position - first, Piece(piece.run, position, stop - position)
            position = stop

    def rises(self, run: int) -> bool:
        """Return True if the list contains the messages of the run in their order."""
        return all(one[2] < other[2] for one, other in pairwise(self._by_run.get(run, [])))


def pack_pieces(pieces: Iterable[Piece]) -> bytes:
    return pack([list(piece) for piece in pieces])


def unpack_pieces(packed: bytes | memoryview) -> list[Piece]:
    return [Piece(*piece) for piece in unpack(packed)]


def pack_splices(changes: Iterable[PieceSplice]) -> bytes:
    return pack([[c.start, c.removed, [list(piece) for piece in c.pieces]] for c in changes])


def unpack_splices(packed: bytes | memoryview) -> list[PieceSplice]:
    return [PieceSplice(start, removed, tuple(Piece(*piece) for piece in pieces)) for start, removed, pieces in unpack(packed)]


def runs_in(packed: bytes | memoryview, *, is_key: bool) -> set[int]:
    """Return the runs that a packed list names: of pieces in a key, of splices elsewhere."""
    if is_key:
        return {piece.run for piece in unpack_pieces(packed)}
    return {piece.run for change in unpack_splices(packed) for piece in change.pieces}
