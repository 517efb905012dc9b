"""The rows of a stored snapshot, as core's comparison asks for them: read from its outline, a block at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from operator import attrgetter

from chainviz.core.diff.rows import Measure, Place, Row
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.row_begins import RowBegins


class StoredRows:
    """The rows of a snapshot as core's comparison asks for them."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._outline = chain.outline
        self._begins = RowBegins(self._outline)

    def __len__(self) -> int:
        return len(self._chain)

    def starts(self, start: int, stop: int) -> list[int]:
        return self._begins.starts(start, stop)

    def span(self, message: int) -> tuple[int, int]:
        return self._begins.span(message)

    def place(self, message: int) -> Place:
        number = self._outline.row_of_message(message)
        row = self._outline.row(number)
        return Place(self._outline.section_of_row(number).path_of(number), row.start, row.start + row.row.messages)

    def rows(self, start: int, stop: int) -> Sequence[Row]:
        if start >= stop:
            return []
        first = self._outline.row_of_message(start)
        last = self._outline.row_of_message(stop - 1)
        places = self._outline.rows(range(first, last + 1))
        end = places[last].start + places[last].row.messages
        shapes = [message.shape for message in self._chain.rows(places[first].start, end)]
        rows = []
        section = self._outline.section_of_row(first)
        for number in range(first, last + 1):
            if number >= section.before.rows + section.measure.rows:
                section = self._outline.section_of_row(number)
            begin = places[number].start
            after = begin + places[number].row.messages
            own = shapes[begin - places[first].start : after - places[first].start]
            rows.append(Row(section.path_of(number), begin, after, tuple(own)))
        return rows

    def measure(self, start: int, stop: int) -> Measure:
        if start >= stop:
            return Measure()
        (_, pairs_before, size_before), (_, pairs, size) = self._before(start), self._before(stop)
        return Measure(stop - start, pairs - pairs_before, size - size_before)

    def _before(self, message: int) -> tuple[int, int, int]:
        """Messages, pairs and bytes before the row that begins with this message."""
        listing = self._outline.listing
        index = bisect_right(listing.message_counts, message)
        before = listing.rows_before(index)
        if index < len(listing.rows):
            block = self._outline.row_block(index)
            inside = bisect_right(block.ends, message - before.messages, key=attrgetter("messages"))
            before = before + block.before(inside)
        return before.messages, before.pairs, before.size
