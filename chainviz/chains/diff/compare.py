"""Compares two snapshots of a chain through their outlines: stretches that lie in the same place of the store are equal
without looking, and bodies are read only where something changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter

from chainviz.core.chain.chain import Chain
from chainviz.core.diff.chains import ChainDiff, Group, Keys, diff_chains
from chainviz.core.diff.rows import Measure, Place, Row
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage, pieces_of
from chainviz.store.content.pieces import Piece
from chainviz.store.models import Snapshot

MOST_STRETCHES = 600
"""More common stretches than this are taken in order, without looking for the best choice among them."""


SCATTERED = 100
"""From so many common stretches on, messages are read ahead …"""
AHEAD = 500
"""… so many at a time."""
WINDOWS_KEPT = 4


class ReadAhead(StoredChain):
    """For who looks at single messages all over a chain, in order: their rows are read some hundreds at a time."""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__(snapshot)
        self._windows: dict[int, Sequence[StoredMessage]] = {}

    def rows(self, start: int, stop: int) -> Sequence[StoredMessage]:
        start, stop = max(0, start), min(stop, len(self))
        if stop - start > AHEAD:
            return super().rows(start, stop)
        found: list[StoredMessage] = []
        for number in range(start // AHEAD, -(-stop // AHEAD)):
            first = number * AHEAD
            found += self._window(number)[max(0, start - first) : stop - first]
        return found

    def _window(self, number: int) -> Sequence[StoredMessage]:
        if number not in self._windows:
            if len(self._windows) >= WINDOWS_KEPT:
                del self._windows[next(iter(self._windows))]
            self._windows[number] = super().rows(number * AHEAD, (number + 1) * AHEAD)
        return self._windows[number]


class StoredRows:
    """The rows of a snapshot as core's comparison asks for them."""

    def __init__(self, chain: StoredChain) -> None:
        self._chain = chain
        self._outline = chain.outline

    def __len__(self) -> int:
        return len(self._chain)

    def starts(self, start: int, stop: int) -> list[int]:
        """Begins of rows, block by block: one sum each, no message is read."""
        ends = self._outline.listing.message_counts
        found: list[int] = []
        for index in range(bisect_right(ends, start), len(ends)):
            place = self._outline.listing.rows_before(index).messages
            if place >= stop:
                break
            begins = (place, *(place + each.messages for each in self._outline.row_block(index).ends[:-1]))
            found += (begin for begin in begins if start <= begin < stop)
        return found

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


@dataclass(frozen=True, slots=True)
class _Stretch:
    old: int
    new: int
    length: int


def equal_stretches(old: Sequence[Piece], new: Sequence[Piece]) -> list[tuple[int, int, int]]:
    """Stretches (old start, new start, length) that both lists take from the same place, rising on both sides."""
    found = sorted(_shared(old, new), key=lambda each: (each.new, each.old))
    chosen = _heaviest_rise(found) if len(found) <= MOST_STRETCHES else _in_order(found)
    return [(each.old, each.new, each.length) for each in chosen]


def _shared(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[_Stretch]:
    by_run: dict[int, list[tuple[int, int, int]]] = {}
    place = 0
    for run, start, length in old:
        by_run.setdefault(run, []).append((start, length, place))
        place += length
    for pieces in by_run.values():
        pieces.sort()
    place = 0
    for run, start, length in new:
        pieces = by_run.get(run, [])
        first = max(0, bisect_right(pieces, (start, 0, -1)) - 1)
        for begin, count, at in pieces[first:]:
            if begin >= start + length:
                break
            low, high = max(start, begin), min(start + length, begin + count)
            if low < high:
                yield _Stretch(at + low - begin, place + low - start, high - low)
        place += length


def _in_order(found: Sequence[_Stretch]) -> list[_Stretch]:
    chosen: list[_Stretch] = []
    for each in found:
        last = chosen[-1] if chosen else None
        if last is None or (each.old >= last.old + last.length and each.new >= last.new + last.length):
            chosen.append(each)
    return chosen


def _heaviest_rise(found: Sequence[_Stretch]) -> list[_Stretch]:
    """The stretches that rise on both sides and hold most messages."""
    best: list[tuple[int, int]] = []
    for i, each in enumerate(found):
        weight, before = 0, -1
        for k in range(i):
            other = found[k]
            fits = other.old + other.length <= each.old and other.new + other.length <= each.new
            if fits and best[k][0] > weight:
                weight, before = best[k][0], k
        best.append((weight + each.length, before))
    chosen: list[_Stretch] = []
    at = max(range(len(best)), key=lambda i: best[i][0], default=-1)
    while at >= 0:
        chosen.append(found[at])
        at = best[at][1]
    return chosen[::-1]


def _digests(chain: Chain, start: int, stop: int) -> Sequence[Hashable]:
    assert isinstance(chain, StoredChain)
    return [message.digest for message in chain.rows(start, stop)]


@lru_cache(maxsize=64)
def _groups(
    old_id: int, new_id: int, old_digest: bytes, new_digest: bytes
) -> tuple[tuple[Group, ...], Measure, Measure, tuple[str, ...]]:
    """Only places and sizes are kept, no content. The digests are part of the key: a number may be used again."""
    old, new = (Snapshot.objects.get(pk=pk) for pk in (old_id, new_id))
    # between two formats the same message is spelled differently, so there its content is compared
    keys: Keys | None = _digests if old.format == new.format else None
    stretches = equal_stretches(pieces_of(old), pieces_of(new))
    chain_of = ReadAhead if len(stretches) >= SCATTERED else StoredChain
    diff = diff_chains(
        chain_of(old),
        chain_of(new),
        stretches,
        rows=lambda chain: StoredRows(chain),  # type: ignore[arg-type]
        keys=keys,
    )
    return diff.groups, diff.before, diff.after, diff.notes


def compare(old: StoredChain, new: StoredChain) -> ChainDiff:
    a, b = old.snapshot, new.snapshot
    groups, before, after, notes = _groups(a.pk, b.pk, bytes(a.digest), bytes(b.digest))
    return ChainDiff(groups, before, after, notes, _old=old, _new=new)
