"""A snapshot in the form that core's merge needs."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core import formats
from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message
from chainviz.core.diff.merge.items import Entry, Keys, Merged, merge_items, settled
from chainviz.core.diff.merge.messages import merge_messages
from chainviz.core.diff.merge.sequences import Contents, Keyed
from chainviz.core.operations.edit import Edit
from chainviz.store.content.message_reader import BodyReader, StoredMessage, pieces_of, read_rows
from chainviz.store.content.pieces import Piece, Places, join
from chainviz.store.models import Snapshot
from chainviz.store.outline.reader import OutlineReader, RowBegins

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
        self._typed: dict[int, bool] = {}
        """By run: True if only edits wrote it."""
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

    def merged(self, stretch: Contents[Piece]) -> Merged[tuple[Piece, ...]] | None:
        """Messages of one row are merged one by one, as long as no call loses its result by that, or a result its call."""
        sides = stretch.base, stretch.mine, stretch.theirs
        if not stretch.base.items or not all(self.continue_rows(stretch.base.items[1:])):
            return None
        base, mine, theirs = (self._entries(each) for each in sides)
        found = merge_items(base, mine, theirs, self._joined)
        both = found.both if found.both is not None and self._holds(found.both, stretch) else None
        if both is not None and not found.has_conflicts:
            return found
        is_one_for_one = len({len(each.items) for each in sides}) == 1
        own, other = (
            made if is_one_for_one and self._holds(made, stretch) else side.items
            for made, side in ((found.mine, stretch.mine), (found.theirs, stretch.theirs))
        )
        return Merged(own, other, both, has_conflicts=True)

    def _entries(self, side: Keyed[Piece]) -> list[Entry[Piece]]:
        shapes = [row.shape for row in self._rows(side.items)]
        ids = [tuple(each.id for each in (*shape.calls, *shape.results)) for shape in shapes]
        return [
            Entry(piece, Keys(key, (shape.role, own) if own else key, shape.role))
            for piece, key, shape, own in zip(side.items, side.keys, shapes, ids, strict=True)
        ]

    def _joined(self, base: Piece, mine: Piece, theirs: Piece) -> Merged[tuple[Piece, ...]] | None:
        rows = self._rows([base, mine, theirs])
        may_repeat = self._has_calls(rows[1:]) and self._were_typed(rows[1:])
        was, own, other = self._bodies.messages(rows)
        found = merge_messages(was, own, other, formats.get_format(self._format), may_repeat=may_repeat)
        if found is None:
            return None
        if not found.has_conflicts:
            return settled((self._piece_of(found.mine),))
        both = None if found.both is None else (self._piece_of(found.both),)
        return Merged(
            (mine if found.mine is own else self._piece_of(found.mine),),
            (theirs if found.theirs is other else self._piece_of(found.theirs),),
            both,
            has_conflicts=True,
        )

    def _piece_of(self, message: Message) -> Piece:
        self.joined_messages.append(message)
        return Piece(JOINED, len(self.joined_messages) - 1, 1)

    def _holds(self, made: Sequence[Piece], stretch: Contents[Piece]) -> bool:
        """Return True if no call lacks its result, and no result its call, that had it on either side."""
        before = (self._unlinked(side.items) for side in (stretch.mine, stretch.theirs))
        return self._unlinked(made) <= set().union(*before)

    def _unlinked(self, pieces: Sequence[Piece]) -> set[str]:
        stored = iter(self._rows([piece for piece in pieces if piece.run != JOINED]))
        shapes = [self.joined_messages[piece.start] if piece.run == JOINED else next(stored).shape for piece in pieces]
        calls, results = ({each.id for shape in shapes for each in getattr(shape, name)} for name in ("calls", "results"))
        return calls ^ results

    def may_repeat(self, mine: Sequence[Piece], theirs: Sequence[Piece]) -> bool:
        """Return True if pieces may be repeated: they have no calls or results, and people wrote them."""
        rows = self._rows((*mine, *theirs))
        return not self._has_calls(rows) and self._were_typed(rows)

    def _were_typed(self, rows: Sequence[StoredMessage]) -> bool:
        """Return True if people wrote all the messages. Only these may be repeated: of two masked copies each could
        show the words that the other hides."""
        runs = {row.run for row in rows}
        if unknown := runs - self._typed.keys():
            made = set(Snapshot.objects.filter(run__in=unknown).exclude(operation=Edit.name).values_list("run", flat=True))
            self._typed |= {run: run not in made for run in unknown}
        return all(self._typed[run] for run in runs)

    def _has_calls(self, rows: Sequence[StoredMessage]) -> bool:
        return any(row.shape.calls or row.shape.results for row in rows)

    def _rows(self, items: Sequence[Piece]) -> list[StoredMessage]:
        missing = [piece for piece in dict.fromkeys(items) if piece not in self._held]
        self._held |= zip(missing, read_rows(join(missing)), strict=True)
        return [self._held[piece] for piece in items]
