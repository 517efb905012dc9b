"""The messages that the state of a stored chain would contain, measured by the chain's outline, so that a page costs the same for long
and short chains."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chainviz.core.chain.messages import SYSTEM, Fragment
from chainviz.core.state.document import is_shared
from chainviz.core.state.export import is_state_format
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of, read_batches, read_rows, total_size
from chainviz.store.content.pieces import Piece, cut
from chainviz.store.content.spans import SourceSpan, unpack_spans
from chainviz.store.models import Run
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.measures import unpack_charts
from chainviz.store.outline.rows import Kind

LONG = 64
"""A range of at least this many messages is not read one by one."""


def seen_messages_in(pieces: Sequence[Piece], processed_length: int) -> int:
    """Count the messages that a provider has seen, like core's `seen_messages`, from their places in the store."""
    imports = Run.objects.filter(pk__in={piece.run for piece in pieces}, kind=Run.IMPORT)
    counter = _Counter(processed_length)
    imported = set(imports.values_list("pk", flat=True))
    for piece in pieces:
        is_long = piece.run in imported and piece.length > LONG
        if not (counter.take_import(piece) if is_long else counter.take(piece)):
            return counter.seen
    return counter.seen + max(0, processed_length - counter.count)


class _Counter:
    """Counts pieces in chain order, up to the last message that the model has seen."""

    def __init__(self, processed_length: int) -> None:
        self.seen = self.count = 0
        self._limit = processed_length
        self._last: SourceSpan | None = None

    def take(self, piece: Piece) -> bool:
        """Count a piece. Return True if the model has seen all its messages."""
        for row in read_rows([piece]):
            for span in unpack_spans(row.source):
                self.count += not self._is_shared(span)
                self._last = span
            if self.count > self._limit:
                return False
            self.seen += 1
        return True

    def take_import(self, piece: Piece) -> bool:
        """Take a piece of an import, in which the messages of the provider are numbered in order."""
        first, last = _span(piece, 0), _span(piece, piece.length - 1)
        before = self.count - self._is_shared(first)
        self.count = before + last.ordinal - first.ordinal + 1
        self._last = last
        end = first.ordinal + self._limit - before
        taken = bisect_left(range(piece.length), end, key=lambda place: _span(piece, place).ordinal)
        self.seen += taken
        return taken == piece.length

    def _is_shared(self, span: SourceSpan) -> bool:
        return self._last is not None and is_shared(span, self._last)


def _span(piece: Piece, place: int) -> SourceSpan:
    (row,) = read_rows([Piece(piece.run, piece.start + place, 1)])
    return unpack_spans(row.source)[0]


LOOKED_AT = 16
"""The number of blocks, from the end, that are searched for system messages."""


@dataclass(frozen=True)
class StatePart:
    """The messages of a chain that a state stores: all except leading system messages. Indexes count from `start`."""

    chain: StoredChain
    start: int

    @classmethod
    def of(cls, chain: StoredChain) -> StatePart:
        """Return the stored messages of a chain. A chain that is a state document stores all its messages."""
        return cls(chain, 0 if is_state_format(chain.format) else _leading_systems(chain))

    def __len__(self) -> int:
        return len(self.chain) - self.start

    @property
    def size(self) -> int:
        return self.chain.snapshot.size - self._size_to(self.start)

    @cached_property
    def systems(self) -> int:
        roles = unpack_charts(outline_of(self.chain.snapshot).charts).roles
        return roles.get(SYSTEM, [0])[0] - self.start

    @cached_property
    def first_role(self) -> str:
        return self.chain.rows(self.start, self.start + 1)[0].shape.role if len(self) else ""

    def size_before(self, place: int) -> int:
        return self._size_to(self.start + place) - self._size_to(self.start)

    def _size_to(self, place: int) -> int:
        if place >= len(self.chain):
            return self.chain.snapshot.size
        outline = self.chain.outline
        row = outline.row_of_message(place)
        start = outline.row(row).start
        return outline.measure_between(0, row).size + total_size(outline.pieces(start, place))

    @cached_property
    def count_to_last_answer(self) -> int:
        """The number of stored messages up to and including the last AI message, the result of the last call."""
        outline = self.chain.outline
        for index in range(len(outline.listing.rows) - 1, -1, -1):
            block = outline.row_block(index)
            for at in range(len(block.rows) - 1, -1, -1):
                if not block.rows[at].kind.is_header and block.rows[at].kind is not Kind.NO_AI:
                    place = outline.listing.rows_before(index).messages + block.messages_before(at)
                    return place + 1 - self.start
        return 0

    def sources(self) -> Iterator[tuple[Fragment, ...]]:
        """Yield the source of each message, a batch of bodies at a time."""
        for batch in read_batches(self._pieces):
            yield from self.chain.bodies.sources(batch)

    def origins(self) -> Iterator[list[SourceSpan]]:
        """Yield the spans of each message without reading its texts."""
        return (unpack_spans(row.source) for row in read_rows(self._pieces))

    def seen_messages(self, processed_length: int) -> int:
        """Return the number of messages that contain the first ones of the provider, which may be several each."""
        return seen_messages_in(self._pieces, processed_length)

    @property
    def _pieces(self) -> Sequence[Piece]:
        return list(cut(pieces_of(self.chain.snapshot), self.start, len(self.chain)))

    def late_systems(self) -> Iterator[int]:
        """Yield the places of the stored system messages near the end, the last one first."""
        outline = self.chain.outline
        last = len(outline.listing.rows) - 1
        for index in range(last, max(-1, last - LOOKED_AT), -1):
            block = outline.row_block(index)
            for at in range(len(block.rows) - 1, -1, -1):
                if block.rows[at].kind is Kind.SYSTEM:
                    place = outline.listing.rows_before(index).messages + block.messages_before(at) - self.start
                    if place < 0:
                        return
                    yield place


def _leading_systems(chain: StoredChain) -> int:
    count = 0
    for index in range(len(chain.outline.listing.rows)):
        for row in chain.outline.row_block(index).rows:
            if row.kind is not Kind.SYSTEM:
                return count
            count += 1
    return count
