"""A snapshot as core's merge asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core import formats
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message
from chainviz.core.diff.merge.message_merge import merge_messages
from chainviz.core.operations.edit import Edit
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece, Places, join
from chainviz.store.models import Snapshot
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.row_begins import RowBegins

JOINED = 0
"""The run of pieces that are not written yet: their starts are places in `MergeBase.joined_messages`."""


class MergeBase:
    """Its items are pieces of one message."""

    def __init__(self, snapshot: Snapshot, outline: OutlineReader) -> None:
        self._length = snapshot.messages
        self._format = snapshot.format
        self._begins = RowBegins(outline)
        self._places = Places(pieces_of(snapshot))
        self._held: dict[Piece, StoredMessage] = {}
        self._bodies = BodyReader()
        self.joined_messages: list[Message] = []

    def __len__(self) -> int:
        return self._length

    def slice(self, start: int, stop: int) -> Sequence[Piece]:
        return self._places.at(range(start, stop))

    def span(self, place: int) -> tuple[int, int]:
        return self._begins.span(place)

    def continue_rows(self, items: Sequence[Piece]) -> Sequence[bool]:
        return [row.shape.role not in (SYSTEM, HUMAN, AI) for row in self._rows(items)]

    def keys(self, items: Sequence[Piece]) -> Sequence[bytes]:
        return [row.digest for row in self._rows(items)]

    def joined(self, base: Piece, mine: Piece, theirs: Piece) -> Piece | None:
        was, own, other = self._bodies.messages(self._rows([base, mine, theirs]))
        message = merge_messages(was, own, other, formats.get_format(self._format))
        if message is None:
            return None
        self.joined_messages.append(message)
        return Piece(JOINED, len(self.joined_messages) - 1, 1)

    def may_repeat(self, mine: Sequence[Piece], theirs: Sequence[Piece]) -> bool:
        """Only what people wrote: of two masked copies each shows the words that the other hides. A call or result that is
        there twice is a problem."""
        rows = self._rows((*mine, *theirs))
        made = Snapshot.objects.filter(run__in={row.run for row in rows}).exclude(operation=Edit.name)
        return not any(row.shape.calls or row.shape.results for row in rows) and not made.exists()

    def _rows(self, items: Sequence[Piece]) -> list[StoredMessage]:
        missing = [piece for piece in dict.fromkeys(items) if piece not in self._held]
        self._held |= zip(missing, read_rows(join(missing)), strict=True)
        return [self._held[piece] for piece in items]
