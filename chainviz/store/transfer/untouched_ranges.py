"""Long ranges of an import without a change, exported as bytes of the upload without reading their messages."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from chainviz.core.documents.assemble import Untouched
from chainviz.core.documents.units import Envelope, Read
from chainviz.store.content.message_reader import read_rows
from chainviz.store.content.pieces import Piece
from chainviz.store.content.runs import unpack_starts
from chainviz.store.content.spans import SourceSpan, decode, unpack_spans
from chainviz.store.models import Body, Snapshot

SHORTEST = 100
"""Messages; a shorter range is read as quickly one by one."""


class UntouchedRanges:
    """The ranges of the import that a snapshot comes from; none where the document around the messages was rewritten."""

    def __init__(self, snapshot: Snapshot, envelope: Envelope, read: Read) -> None:
        self._read = read
        self.run = 0
        self._starts: list[int] = []
        self._owners: list[int] = []
        self._cuts: list[int] = []
        """Indexes among the starts at which no message lies on both sides."""
        self._behind: list[int] = []
        """The first message behind each of them."""
        template = snapshot.template
        if template is None or envelope.single or envelope.lists or not _is_import(template.pk):
            return
        self.run = template.pk
        content = envelope.content
        found = sorted(zip(*unpack_starts(template.starts), strict=True))
        inside = [(start, owner) for start, owner in found if content.start <= start <= content.end]
        self._starts = [start for start, _ in inside]
        self._owners = [owner for _, owner in inside]
        self._cuts, self._behind = _cuts(self._starts, self._owners)

    def parts(self, piece: Piece) -> Iterator[Piece | Untouched]:
        """Yields the piece with a range of bytes for as much of it as possible."""
        run, start, end = piece.run, piece.start, piece.start + piece.length
        first, last = bisect_left(self._behind, start), bisect_right(self._behind, end) - 1
        if run != self.run or first >= last or self._behind[last] - self._behind[first] < SHORTEST:
            yield piece
            return
        head, tail = self._behind[first], self._behind[last]
        if head > start:
            yield Piece(run, start, head - start)
        yield self._untouched(self._span(self._cuts[first]), self._span(self._cuts[last] - 1))
        if end > tail:
            yield Piece(run, tail, end - tail)

    def _untouched(self, first: SourceSpan, last: SourceSpan) -> Untouched:
        lead = decode(self._read(first.start - first.lead, first.start))
        return Untouched(first.ordinal, last.ordinal, lead, first.start, last.start + last.length)

    def _span(self, index: int) -> SourceSpan:
        row = next(read_rows([Piece(self.run, self._owners[index], 1)]))
        return next(span for span in unpack_spans(row.source) if span.start == self._starts[index])


def _is_import(run: int) -> bool:
    """Whether an import wrote the run: a copy points into the upload too, but not at everything between its messages."""
    was_imported = Snapshot.objects.filter(template=run, parent=None, operation="").exists()
    return was_imported and not Body.objects.filter(run=run).exists()


def _cuts(starts: Sequence[int], owners: Sequence[int]) -> tuple[list[int], list[int]]:
    """Returns the indexes at which all owners before are lower than all behind and another unit begins; and the lowest owner
    behind each."""
    highest = accumulate(owners, max)
    lowest = [*accumulate(reversed(owners), min, initial=max(owners, default=-1) + 1)][::-1]
    inner = zip(range(1, len(starts)), highest, lowest[1:], pairwise(starts), strict=False)
    cuts = [0, *(at for at, before, behind, (one, other) in inner if before < behind and one != other), len(starts)]
    return cuts, [lowest[cut] for cut in cuts]
