"""How many stored messages of a chain the first ones of the provider hold. Of an imported stretch only a few rows are read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from chainviz.core.state.processed_length import is_shared
from chainviz.store.content.message_reader import read_rows
from chainviz.store.content.pieces import Piece
from chainviz.store.content.spans import SourceSpan, unpack_spans
from chainviz.store.models import Run

LONG = 64
"""Messages of a stretch that is not read one by one."""


def seen_messages_in(pieces: Sequence[Piece], processed_length: int) -> int:
    """As core's `seen_messages` does, from where the messages lie in the store."""
    imports = Run.objects.filter(pk__in={piece.run for piece in pieces}, kind=Run.IMPORT)
    counter = _Counter(processed_length)
    imported = set(imports.values_list("pk", flat=True))
    for piece in pieces:
        is_long = piece.run in imported and piece.length > LONG
        if not (counter.take_import(piece) if is_long else counter.take(piece)):
            return counter.seen
    return counter.seen + max(0, processed_length - counter.count)


class _Counter:
    """Takes pieces in chain order until the messages that the model has seen end."""

    def __init__(self, processed_length: int) -> None:
        self.seen = self.count = 0
        self._limit = processed_length
        self._last: SourceSpan | None = None

    def take(self, piece: Piece) -> bool:
        """Returns whether all messages of the piece are seen."""
        for row in read_rows([piece]):
            for span in unpack_spans(row.source):
                self.count += not self._is_shared(span)
                self._last = span
            if self.count > self._limit:
                return False
            self.seen += 1
        return True

    def take_import(self, piece: Piece) -> bool:
        """The same for a piece of an import, where the messages of the provider are numbered in their order."""
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
