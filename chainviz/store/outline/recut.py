"""Cuts a stretch of rows anew after its messages changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from chainviz.core.chain.messages import CallRef, Shape
from chainviz.store.content.message_reader import BodyReader, StoredMessage, read_rows
from chainviz.store.content.pieces import Piece, join
from chainviz.store.outline.blocks import LooseRow
from chainviz.store.outline.build import Placed
from chainviz.store.outline.call_ids import FirstUses, Used, used_by, was_repeated
from chainviz.store.outline.charts import Charts
from chainviz.store.outline.hashes import sequence_hash
from chainviz.store.outline.problem_rules import Surroundings, judge
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import Stretch, stretches


@dataclass(frozen=True, slots=True)
class Change:
    """Messages `start : start + removed` give way to `placed`."""

    start: int
    removed: int
    placed: tuple[Placed, ...]


class Recut:
    """Rows `first:stop` of the old outline, and what they become."""

    def __init__(self, outline: OutlineReader, first: int, stop: int, changes: Sequence[Change]) -> None:
        self.first = first
        self.stop = stop
        self._outline = outline
        self._changes = changes

    @cached_property
    def _start(self) -> int:
        """The first message of the stretch."""
        total = self._outline.listing.total.messages
        return self._outline.row(self.first).start if self.first < self.stop else total

    @cached_property
    def _old(self) -> list[StoredMessage]:
        if self.first == self.stop:
            return []
        last = self._outline.row(self.stop - 1)
        return list(read_rows(self._outline.pieces(self._start, last.start + last.row.messages)))

    @cached_property
    def _new(self) -> list[StoredMessage | Placed]:
        new: list[StoredMessage | Placed] = []
        place = 0
        for change in self._changes:
            start = change.start - self._start
            new += self._old[place:start]
            new += change.placed
            place = start + change.removed
        return [*new, *self._old[place:]]

    @cached_property
    def old_uses(self) -> list[Used]:
        return [use for row in self._old for use in used_by(_piece(row), row.shape.calls)]

    @cached_property
    def new_uses(self) -> list[Used]:
        return [use for one in self._new for use in used_by(_piece(one), _shape(one).calls)]

    @property
    def keeps_calls(self) -> bool:
        """Whether the new rows make the same calls in the same order."""
        return [use.id for use in self.old_uses] == [use.id for use in self.new_uses]

    def rows(self, charts: Charts, first_uses: FirstUses | None) -> list[LooseRow]:
        for gone in stretches(row.shape for row in self._old):
            charts.add(gone.messages, -1)
        placed = self._placed()
        cut = list(stretches(one.message for one in placed))
        starts = [0]
        for stretch in cut:
            charts.add(stretch.messages)
            starts.append(starts[-1] + len(stretch.messages))
        repeated = self._repeated(first_uses)

        def is_repeated(row: int, call: CallRef) -> bool:
            return next(iter(used_by(placed[starts[row]].piece, [call]))) in repeated

        rows = judge(cut, Surroundings(self._before(), self._after()), is_repeated)
        loose = []
        for start, row in zip(starts, rows, strict=False):
            own = placed[start : start + row.messages]
            value = sequence_hash(one.digest for one in own)
            loose.append(LooseRow(row, tuple(join(one.piece for one in own)), value))
        return loose

    def _placed(self) -> list[Placed]:
        """The new messages, with the bodies of those that stay."""
        kept = [one for one in self._new if isinstance(one, StoredMessage)]
        bodies = iter(BodyReader().messages(kept))
        return [
            Placed(next(bodies), _piece(one), one.digest) if isinstance(one, StoredMessage) else one
            for one in self._new
        ]

    def _repeated(self, first_uses: FirstUses | None) -> set[Used]:
        """The new uses of ids that were used before."""
        if first_uses is not None:
            return {use for use in self.new_uses if first_uses.is_repeated(use)}
        return {new for old, new in zip(self._old_flags(), self.new_uses, strict=True) if old}

    def _old_flags(self) -> list[bool]:
        flags = []
        place = 0
        for number in range(self.first, self.stop):
            row = self._outline.row(number).row
            # only the first message of a pair can call tools
            flags += [was_repeated(row, call) for call in self._old[place].shape.calls]
            place += row.messages
        return flags

    def _before(self) -> Stretch[Any] | None:
        """The row before, by its first and its last message: no more of it is ever asked for."""
        if self.first == 0:
            return None
        place = self._outline.row(self.first - 1)
        ends = {place.start, place.start + place.row.messages - 1}
        pieces = [piece for index in sorted(ends) for piece in self._outline.pieces(index, index + 1)]
        return Stretch(tuple(row.shape for row in read_rows(pieces)))

    def _after(self) -> Shape | None:
        if self.stop >= self._outline.listing.total.rows:
            return None
        return next(read_rows(self._outline.row(self.stop).pieces(1))).shape


def _piece(one: StoredMessage | Placed) -> Piece:
    return one.piece if isinstance(one, Placed) else Piece(one.run, one.position, 1)


def _shape(one: StoredMessage | Placed) -> Shape:
    return one.message if isinstance(one, Placed) else one.shape
