"""Where the rows of a snapshot begin and end, for those who ask about many messages: block by block, no message is read."""

from __future__ import annotations

from bisect import bisect_right

from chainviz.store.outline.reader import OutlineReader


class RowBegins:
    def __init__(self, outline: OutlineReader) -> None:
        self._outline = outline
        self._begins: dict[int, list[int]] = {}

    def starts(self, start: int, stop: int) -> list[int]:
        """First messages of the rows among the messages `start:stop`."""
        ends = self._outline.listing.message_counts
        found: list[int] = []
        for index in range(bisect_right(ends, start), len(ends)):
            begins = self._of_block(index)
            if begins[0] >= stop:
                break
            found += (begin for begin in begins[:-1] if start <= begin < stop)
        return found

    def span(self, message: int) -> tuple[int, int]:
        """Start and stop of the row that holds this message."""
        begins = self._of_block(bisect_right(self._outline.listing.message_counts, message))
        i = bisect_right(begins, message)
        return begins[i - 1], begins[i]

    def _of_block(self, block: int) -> list[int]:
        """Where each row of a block begins, and where the last one ends."""
        if block not in self._begins:
            place = self._outline.listing.rows_before(block).messages
            self._begins[block] = [place, *(place + each.messages for each in self._outline.row_block(block).ends)]
        return self._begins[block]
