"""Find rows, sections, messages and paths in an outline: first by sums over blocks, then inside one block."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from chainviz.core.chain.paths import Path
from chainviz.core.errors import PathError
from chainviz.core.providers.rules import Mark
from chainviz.store.content.pieces import Piece, cut, join
from chainviz.store.models import Outline, Snapshot
from chainviz.store.outline.blocks import Entry, HashedRow, Listing, RowBlock, SectionBlock, hashed_rows, unpack_rows, unpack_sections
from chainviz.store.outline.cache import BlockReader, fetch_together, listing_of
from chainviz.store.outline.measures import Measure, add_up
from chainviz.store.outline.rows import Kind, Row, SectionRow


class SectionPlace(NamedTuple):
    """A section and its place in the chain."""

    number: int
    before: Measure
    """The sum of everything before it."""
    section: SectionRow

    @property
    def measure(self) -> Measure:
        return self.section.measure

    @property
    def start(self) -> int:
        return self.before.messages

    def row_of(self, path: Path) -> int:
        """Return the number of the row, counted in the whole chain, of a header message or pair of this section."""
        assert path.pair is not None
        if path.pair == 0:
            place, count, what = path.message or 0, self.measure.headers, "header message"
        else:
            place, count, what = path.pair - 1, self.measure.pairs, "pair"
        if place >= count:
            raise PathError(f"{path} is not in this chain: section {self.number} has {_counted(count, what)}.")
        return self.before.rows + place + (self.measure.headers if path.pair else 0)

    def path_of(self, row: int) -> Path:
        place = row - self.before.rows
        headers = self.measure.headers
        return Path(self.number, 0, place) if place < headers else Path(self.number, place - headers + 1)


class RowPlace(NamedTuple):
    """A row and its place in the chain."""

    row: Row
    start: int
    """The index of its first message in the chain."""
    block: RowBlock
    offset: int
    """The index of its first message in the block."""

    def pieces(self, limit: int) -> Iterator[Piece]:
        """Yield the pieces of its first `limit` messages."""
        return cut(self.block.pieces, self.offset, self.offset + min(limit, self.row.messages))


@dataclass
class OutlineReader:
    listing: Listing
    blocks: BlockReader

    @classmethod
    def of(cls, snapshot: Snapshot, outline: Outline) -> OutlineReader:
        listing = listing_of(outline)
        return cls(listing, BlockReader(snapshot.history_id, listing=listing))

    def row_block(self, index: int) -> RowBlock:
        digest = self.listing.rows[index].digest
        self.blocks.load_rows([digest])
        return self.blocks.rows[digest]

    def section_block(self, index: int) -> SectionBlock:
        digest = self.listing.sections[index].digest
        self.blocks.load_sections([digest])
        return self.blocks.sections[digest]

    def hashed_rows(self, entry: Entry) -> list[HashedRow]:
        self.blocks.load_rows([entry.digest], hashes=True)
        return list(hashed_rows(self.blocks.rows[entry.digest], self.blocks.hashes[entry.digest]))

    # sections

    def section(self, number: int) -> SectionPlace:
        if not 1 <= number <= self.listing.section_count:
            raise PathError(f"s{number} is not in this chain: it has {_counted(self.listing.section_count, 'section')}.")
        return next(self.sections(number, number + 1))

    def sections(self, first: int, stop: int) -> Iterator[SectionPlace]:
        """Yield the sections `first` to `stop - 1`; reads their blocks in one query."""
        stop = min(stop, self.listing.section_count + 1)
        if first >= stop:
            return
        ends = [count for count, _ in self.listing.section_ends]
        low, high = bisect_left(ends, first), bisect_left(ends, stop - 1)
        self.blocks.load_sections(self.listing.sections[i].digest for i in range(low, high + 1))
        for index in range(low, high + 1):
            count, before = self.listing.sections_before(index)
            block = self.section_block(index)
            for i in range(max(0, first - count - 1), min(len(block.sections), stop - count - 1)):
                yield SectionPlace(count + i + 1, before + block.before(i), block.sections[i])

    def section_of_row(self, row: int) -> SectionPlace:
        index = self.section_block_of_row(row)
        count, before = self.listing.sections_before(index)
        block = self.section_block(index)
        i = bisect_right(block.ends, row - before.rows, key=attrgetter("rows"))
        return SectionPlace(count + i + 1, before + block.before(i), block.sections[i])

    def section_block_of_row(self, row: int) -> int:
        return bisect_right(self.listing.section_ends, row, key=lambda end: end[1].rows)

    # rows

    def rows(self, wanted: Iterable[int]) -> dict[int, RowPlace]:
        """Return rows by number; reads their blocks in one query."""
        ends = self.listing.row_counts
        blocks = {row: bisect_right(ends, row) for row in wanted}
        self.blocks.load_rows({self.listing.rows[index].digest for index in blocks.values()})
        return {row: self._row(row, index) for row, index in blocks.items()}

    def row(self, row: int) -> RowPlace:
        return self.rows([row])[row]

    def _row(self, row: int, index: int) -> RowPlace:
        block = self.row_block(index)
        i = row - self.listing.first_row(index)
        offset = block.messages_before(i)
        return RowPlace(block.rows[i], self.listing.first_message(index) + offset, block, offset)

    def measure_between(self, low: int, high: int) -> Measure:
        """Add up the rows `low:high`: whole blocks by their sums, the two at the ends row by row."""
        ends = self.listing.row_counts
        first, last = bisect_right(ends, low), bisect_left(ends, high)
        parts: list[Measure] = []
        for index in range(first, last + 1):
            start, end = self.listing.first_row(index), ends[index]
            if low <= start and end <= high:
                parts.append(self.listing.rows[index].measure)
            else:
                block = self.row_block(index)
                parts += [row.measure for row in block.rows[max(0, low - start) : high - start]]
        return add_up(parts)

    def row_of_message(self, index: int) -> int:
        block_index = self.block_of_message(index)
        message = index - self.listing.first_message(block_index)
        return self.listing.first_row(block_index) + bisect_right(self.row_block(block_index).message_ends, message)

    def block_of_message(self, index: int) -> int:
        return bisect_right(self.listing.message_counts, index)

    def marked(self, mark: Mark, start: int) -> Iterator[int]:
        """Yield the AI messages with the mark, from message `start` on; reads only blocks that have any."""
        for index in range(bisect_right(self.listing.message_counts, start), len(self.listing.rows)):
            if not self.listing.rows[index].measure.marked(mark):
                continue
            before, block = self.listing.first_message(index), self.row_block(index)
            places = (before + block.messages_before(i) for i, row in enumerate(block.rows) if row.marks & mark)
            yield from (place for place in places if place >= start)

    # messages and paths

    def pieces(self, start: int, stop: int) -> list[Piece]:
        """Return the pieces of the messages `start:stop`."""
        if start >= stop:
            return []
        ends = self.listing.message_counts
        low, high = bisect_right(ends, start), bisect_left(ends, stop)
        self.blocks.load_rows(entry.digest for entry in self.listing.rows[low : high + 1])
        found: list[Piece] = []
        for index in range(low, high + 1):
            first, last = self.listing.first_message(index), ends[index]
            found += cut(self.row_block(index).pieces, max(start, first) - first, min(stop, last) - first)
        return join(found)

    def span(self, path: Path) -> range:
        """Return the indexes of the messages under `path`. Raises PathError if the chain has no such node."""
        place = self.section(path.section)
        measure = place.measure
        if path.pair is None:
            return range(place.start, place.start + measure.messages)
        if path.pair == 0 and path.message is None:
            return range(place.start, place.start + measure.headers)
        found = self.row(place.row_of(path))
        if path.pair == 0 or path.message is None:
            return range(found.start, found.start + found.row.messages)
        # m0 is reserved for the AI message even if there is none
        message = path.message - (found.row.kind is Kind.NO_AI)
        if not 0 <= message < found.row.messages:
            raise PathError(f"{path} is not in this chain: the pair has {_counted(found.row.messages, 'message')}.")
        return range(found.start + message, found.start + message + 1)

    def path_at(self, message: int) -> Path:
        """Return the path of a message by its index in the chain."""
        if not 0 <= message < self.listing.total.messages:
            raise PathError(f"There is no message {message + 1}: the chain has {self.listing.total.messages}.")
        row = self.row_of_message(message)
        path = self.section_of_row(row).path_of(row)
        if path.pair == 0:
            return path
        found = self.row(row)
        return Path(path.section, path.pair, message - found.start + (found.row.kind is Kind.NO_AI))


def read_ahead(messages: Iterable[tuple[OutlineReader, int]]) -> None:
    """Read the blocks that `path_at` needs for messages of several chains, in two queries for all chains."""
    messages = list(messages)
    in_blocks = ((each.blocks, each.listing.rows[each.block_of_message(index)].digest) for each, index in messages)
    for blocks, digest, content in fetch_together(in_blocks):
        blocks.rows[digest] = unpack_rows(bytes(content))
    rows = [(each, each.row_of_message(index)) for each, index in messages]
    in_blocks = ((each.blocks, each.listing.sections[each.section_block_of_row(row)].digest) for each, row in rows)
    for blocks, digest, content in fetch_together(in_blocks):
        blocks.sections[digest] = unpack_sections(bytes(content))


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


class RowBegins:
    """The first message of each row of a snapshot, for callers that ask for many messages. Reads only blocks."""

    def __init__(self, outline: OutlineReader) -> None:
        self._outline = outline
        self._begins: dict[int, list[int]] = {}

    def starts(self, start: int, stop: int) -> list[int]:
        """Return the index of the first message of each row in `start:stop`."""
        ends = self._outline.listing.message_counts
        found: list[int] = []
        for index in range(bisect_right(ends, start), len(ends)):
            begins = self._of_block(index)
            if begins[0] >= stop:
                break
            found += (begin for begin in begins[:-1] if start <= begin < stop)
        return found

    def span(self, message: int) -> tuple[int, int]:
        """Return start and stop of the row that contains this message."""
        begins = self._of_block(bisect_right(self._outline.listing.message_counts, message))
        i = bisect_right(begins, message)
        return begins[i - 1], begins[i]

    def _of_block(self, block: int) -> list[int]:
        """Return the first message of each row of a block, and the end of the last row."""
        if block not in self._begins:
            place = self._outline.listing.rows_before(block).messages
            self._begins[block] = [place, *(place + each.messages for each in self._outline.row_block(block).ends)]
        return self._begins[block]
