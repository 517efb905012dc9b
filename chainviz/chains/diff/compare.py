"""Compare two snapshots of a chain through their outlines: ranges with the same place in the store are equal, and
bodies are read only if something changed."""

from __future__ import annotations

from base64 import b64decode, b64encode
from bisect import bisect_right
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import Any

from chainviz.chains.diff.address import Links
from chainviz.chains.page_jobs import COMPARE, JobNeeded
from chainviz.core.chain.chain import Chain
from chainviz.core.diff.chains import ChainDiff, Keys, diff_chains
from chainviz.core.diff.group_table import GroupTable
from chainviz.core.diff.rows import Measure, Place, Row, Rows
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage, pieces_of
from chainviz.store.content.pieces import Piece
from chainviz.store.models import Snapshot
from chainviz.store.outline.reader import RowBegins
from chainviz.store.quick_only import must_be_quick

# The groups of a comparison as JSON: places and sizes, no content.


LAYOUT = 3
"""The version of a job's packed result; results with another number are not read."""
Groups = tuple[GroupTable, Measure, Measure, tuple[str, ...], Mapping[int, int], bool]
"""Groups, both whole chains, notes, moved results, whether ids matter: what makes a ChainDiff."""


def groups_in(diff: ChainDiff) -> Groups:
    return diff.groups, diff.before, diff.after, diff.notes, diff.moved, diff.ids_matter


def pack_groups(found: Groups) -> list[Any]:
    groups, before, after, notes, moved, ids_matter = found
    return [b64encode(groups.pack()).decode("ascii"), before, after, notes, list(moved.items()), ids_matter]


def unpack_groups(packed: list[Any]) -> Groups:
    groups, before, after, notes, moved, ids_matter = packed
    table = GroupTable.unpack(b64decode(groups))
    return table, Measure(*before), Measure(*after), tuple(notes), dict(moved), ids_matter


SCATTERED = 100
"""From this many common ranges on, messages are read ahead …"""
AHEAD = 500
"""… this many at a time."""
WINDOWS_KEPT = 4
MOST_STRETCHES = 500
MOST_COMPARED = 4_000
"""The most messages outside equal ranges; with more on either side, a job compares them."""


class ReadAhead(StoredChain):
    """A chain whose messages are read one by one, in order, all over it: rows are read some hundreds at a time."""

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


def _digests(chain: Chain, start: int, stop: int) -> Sequence[Hashable]:
    assert isinstance(chain, StoredChain)
    return [message.digest for message in chain.rows(start, stop)]


def compare(old: StoredChain, new: StoredChain) -> ChainDiff:
    """Raise JobNeeded on a page if nobody compared these yet and the comparison takes long."""
    a, b = old.snapshot, new.snapshot
    return ChainDiff(*_cached_groups(a.pk, b.pk, bytes(a.digest), bytes(b.digest)), _old=old, _new=new)


@lru_cache(maxsize=64)
def _cached_groups(old_id: int, new_id: int, old_digest: bytes, new_digest: bytes) -> Groups:
    """Cache only places and sizes, no content. The key includes the digests, since a number may be used again."""
    old, new = (Snapshot.objects.get(pk=pk) for pk in (old_id, new_id))
    stretches = equal_stretches(pieces_of(old), pieces_of(new))
    if not _takes_long(old, new, stretches):
        return _groups(old, new, stretches)
    digests = old_digest.hex() + new_digest.hex()
    needed = JobNeeded(COMPARE, new.history_id, before=old_id, after=new_id, digests=digests, layout=LAYOUT)
    return from_job(needed) or _groups(old, new, stretches)


def from_job(needed: JobNeeded) -> Groups | None:
    packed = from_job_result(needed)
    return None if packed is None else unpack_groups(packed)


def from_job_result(needed: JobNeeded) -> Any:
    """Return what the job found; where none did it yet, None, or on a page JobNeeded is raised."""
    done = needed.jobs.filter(state=Job.State.DONE).order_by("-pk").first()
    if done is not None and done.result is not None:
        return done.result
    if must_be_quick():
        raise needed
    return None


def _takes_long(old: Snapshot, new: Snapshot, stretches: Sequence[tuple[int, int, int]]) -> bool:
    others = old.messages + new.messages - 2 * sum(length for _, _, length in stretches)
    return len(stretches) > MOST_STRETCHES or others > MOST_COMPARED


def _groups(old: Snapshot, new: Snapshot, stretches: Sequence[tuple[int, int, int]]) -> Groups:
    # between two formats the same message is spelled differently, so there its content is compared
    keys: Keys | None = _digests if old.format == new.format else None
    chain_of = ReadAhead if len(stretches) >= SCATTERED else StoredChain
    diff = diff_chains(
        chain_of(old),
        chain_of(new),
        stretches,
        rows=lambda chain: StoredRows(chain),  # type: ignore[arg-type]
        keys=keys,
    )
    return groups_in(diff)


def compare_by_job(context: JobContext, *, before: int, after: int, digests: str, **key: Any) -> list[Any] | None:
    """Compare two versions. `key` identifies the job and the form of its result. Returns None if a purge removed one of
    the versions meanwhile."""
    found = [Snapshot.objects.filter(pk=pk).first() for pk in (before, after)]
    old, new = found
    if old is None or new is None or (bytes(old.digest) + bytes(new.digest)).hex() != digests:
        return None
    return pack_groups(_groups(old, new, equal_stretches(pieces_of(old), pieces_of(new))))


# Stretches of messages that two snapshots take from the same place in the store: equal without reading them.


MOST_EQUAL_STRETCHES = 600
"""With more common ranges than this, they are taken in order, without searching for the best choice among them."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    old: int
    new: int
    length: int


def equal_stretches(old: Sequence[Piece], new: Sequence[Piece]) -> list[tuple[int, int, int]]:
    """Return ranges (old start, new start, length) that both lists take from the same place, rising on both sides."""
    found = sorted(_shared(old, new), key=lambda each: (each.new, each.old))
    chosen = _heaviest_rise(found) if len(found) <= MOST_EQUAL_STRETCHES else _in_order(found)
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
    """Return the ranges that rise on both sides and contain most messages."""
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


# The rows of a stored snapshot, as core's comparison asks for them: read from its outline, a block at a time.


class StoredRows:
    """The rows of a snapshot in the form that core's comparison needs."""

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
        """Return the number of messages, pairs and bytes before the row that begins with this message."""
        listing = self._outline.listing
        index = bisect_right(listing.message_counts, message)
        before = listing.rows_before(index)
        if index < len(listing.rows):
            block = self._outline.row_block(index)
            inside = bisect_right(block.ends, message - before.messages, key=attrgetter("messages"))
            before = before + block.before(inside)
        return before.messages, before.pairs, before.size


# A comparison with all that its pages need to be drawn.


WORDS = {
    "added": ("added", "added", "added"),
    "removed": ("removed", "removed", "removed"),
    "changed": ("changed", "changed", "changed"),
    "moved": ("open", "sort", "moved"),
    "merged": ("changed", "compact", "merged"),
    "split": ("changed", "split", "split"),
    "summarised": ("summarised", "summary", "summarized"),
    "expanded": ("changed", "expand", "expanded"),
}
"""For each kind: state (colour), icon, word."""


@dataclass(frozen=True, slots=True)
class Compared:
    diff: ChainDiff
    old: Chain
    new: Chain
    old_rows: Rows
    new_rows: Rows
    links: Links
    words: Mapping[str, str] = field(default_factory=dict)
    """Other words for kinds of changes on this page."""

    def word(self, kind: str) -> str:
        return self.words.get(kind, WORDS[kind][2])
