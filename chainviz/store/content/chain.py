"""A snapshot as a core Chain. Messages are read from the store on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from chainviz.core.chain.messages import Message
from chainviz.core.chain.paths import Path
from chainviz.core.chain.tree import ChainAST, parse
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.operations.summarize import SUMMARIZE
from chainviz.core.providers.rules import Mark
from chainviz.store.content.at_hand import AtHand
from chainviz.store.content.message_reader import (
    HELD_ROWS,
    BodyReader,
    RowReader,
    StoredMessage,
    pieces_of,
    read_batches,
    read_ordinals,
    read_rows,
    read_shapes,
)
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.content.pieces import Piece, Places, total
from chainviz.store.models import Snapshot
from chainviz.store.outline.build import outline_of
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.transfer.document_context import context_of

NEIGHBOURS = 8
MOST_AT_HAND = 20_000
"""The longest chain, in messages, whose tree stays in memory, because a live preview reads it at every keystroke."""
_TREE: AtHand[ChainAST[StoredShape]] = AtHand(1)


def chain_of(snapshot: Snapshot) -> StoredChain:
    """Return the chain of a snapshot. All callers with the same snapshot object share the messages that were read."""
    chain: StoredChain = snapshot.__dict__.setdefault("stored_chain", StoredChain(snapshot))
    return chain


def chain_to_edit(snapshot: Snapshot) -> StoredChain:
    """Return the chain of a snapshot for an edit, which reads the neighbours of a message in few queries."""
    chain = chain_of(snapshot)
    chain.read.around = NEIGHBOURS
    chain.outline.blocks.with_hashes = True
    return chain


class StoredChain:
    """A chain that finds messages through the outline, so that a window of a long chain costs no more than one of a short chain."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.bodies = BodyReader()
        self.read = RowReader(self.bodies.runs)

    @property
    def format(self) -> str:
        return self.snapshot.format

    def __len__(self) -> int:
        return self.snapshot.messages

    def __getitem__(self, index: int) -> Message:
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self.slice(place, place + 1)[0]

    @cached_property
    def outline(self) -> OutlineReader:
        return OutlineReader.of(self.snapshot, outline_of(self.snapshot))

    def slice(self, start: int, stop: int) -> Sequence[Message]:
        return self.bodies.messages(self.rows(start, stop))

    def stream(self, start: int, stop: int) -> Iterator[Message]:
        for rows in read_batches(self._places.between(start, stop)):
            yield from self.bodies.messages(rows)

    def begun_at(self, places: Sequence[int]) -> list[Message]:
        """Return messages at any indexes, in one read. Very long texts have only their beginning (LongText)."""
        return self.bodies.begun(self.rows_at(places))

    def rows_at(self, places: Sequence[int]) -> list[StoredMessage]:
        """Return messages at any indexes, without bodies, in one read."""
        return list(read_rows(self._places.at(places)))

    def ordinals(self) -> Iterator[int | None]:
        """Yield for each message the unit of the source in which it begins, or None if it has none yet."""
        return read_ordinals(pieces_of(self.snapshot))

    def rows(self, start: int, stop: int) -> Sequence[StoredMessage]:
        """Return messages without bodies."""
        # a reader of the whole chain needs no outline, whose blocks would all stay in memory
        found = self._places.between if "_shapes" in self.__dict__ else self.outline.pieces
        return self.read(found(max(0, start), min(stop, len(self))))

    def rows_in(self, pieces: Sequence[Piece]) -> Iterable[StoredMessage]:
        """Return messages by their pieces, without bodies. A few come from the cache; many are read one by one."""
        return self.read(pieces) if total(pieces) <= HELD_ROWS else read_rows(pieces)

    def shapes_in(self, start: int, stop: int) -> Sequence[StoredShape]:
        return [row.shape for row in self.rows(start, stop)]

    @cached_property
    def surroundings(self) -> DocumentContext:
        return context_of(self.snapshot)

    @cached_property
    def _places(self) -> Places:
        return Places(pieces_of(self.snapshot))

    @cached_property
    def _shapes(self) -> tuple[StoredShape, ...]:
        return tuple(read_shapes(pieces_of(self.snapshot)))

    def shapes(self) -> Sequence[StoredShape]:
        return self._shapes

    @cached_property
    def tree(self) -> ChainAST[StoredShape]:
        key = (self.snapshot.pk, bytes(self.snapshot.digest))
        tree = _TREE.get(key)
        if tree is None:
            tree = parse(self._shapes)
            if len(self) <= MOST_AT_HAND:
                _TREE.keep(key, tree)
        return tree

    @cached_property
    def summaries(self) -> Sequence[Snapshot]:
        """The steps of its history that made summaries, oldest first. Most chains have none."""
        made = Snapshot.objects.filter(history=self.snapshot.history_id, operation=SUMMARIZE.name)
        return list(made.select_related("parent").order_by("pk"))

    def signed(self, start: int) -> Iterator[int]:
        return self.outline.marked(Mark.SIGNED, start)

    def span(self, path: Path) -> range:
        return self.outline.span(path)

    def at(self, path: Path) -> Sequence[Message]:
        """Return the messages under a path."""
        span = self.span(path)
        return self.slice(span.start, span.stop)
