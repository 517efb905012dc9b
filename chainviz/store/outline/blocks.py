"""Blocks of rows and of sections, the listing that names them by the digest of their content, and hashes that can be put together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar

from chainviz.core.providers.request import NO_REQUEST, Request, from_list, to_list
from chainviz.store.content.at_hand import forgettable
from chainviz.store.content.codec import pack, pack_text, to_text, unpack
from chainviz.store.content.pieces import Cursor, Piece, join
from chainviz.store.outline.measures import NOTHING, Measure, add_up
from chainviz.store.outline.rows import Row, SectionRow, measure_rows, pack_row, unpack_row
from chainviz.store.outline.rules.late_results import NO_LATE, LateIds

PRIME = 2**127 - 1
BASE = 0x5BD1E995_9E3779B9_7F4A7C15_2545F491
WIDTH = 16


def sequence_hash(digests: Iterable[bytes]) -> int:
    value = 0
    for digest in digests:
        value = (value * BASE + int.from_bytes(digest, "big") + 1) % PRIME
    return value


def concatenate(parts: Iterable[tuple[int, int]]) -> int:
    """Return the hash of neighbouring stretches, each given as (hash, number of messages)."""
    value = 0
    for part, count in parts:
        value = (value * _power(count) + part) % PRIME
    return value


@lru_cache
def _power(count: int) -> int:
    return pow(BASE, count, PRIME)


def to_bytes(value: int) -> bytes:
    return value.to_bytes(WIDTH, "big")


def pack_hashes(values: Iterable[int]) -> bytes:
    return b"".join(map(to_bytes, values))


def unpack_hashes(packed: bytes | memoryview) -> list[int]:
    content = bytes(packed)
    return [int.from_bytes(content[i : i + WIDTH], "big") for i in range(0, len(content), WIDTH)]


T = TypeVar("T")
BLOCK = 256
"""The number of rows in a new block."""
AT_HAND = 48
"""The number of unpacked blocks that stay in memory. Their key is their stored form, so what they show cannot be out of date."""


class Entry(NamedTuple):
    """A block as the listing knows it."""

    digest: bytes
    count: int  # type: ignore[assignment]
    """The number of rows or sections in it."""
    measure: Measure
    hash: int = 0
    """The hash of its messages (blocks of rows only)."""


@dataclass(frozen=True)
class RowBlock:
    rows: Sequence[Row]
    pieces: tuple[Piece, ...]
    """The places of its messages."""
    lengths: Sequence[int]
    """The number of messages of each row."""

    @cached_property
    def ends(self) -> list[Measure]:
        """Sums over the rows up to and including each."""
        return list(accumulate((row.measure for row in self.rows), Measure.__add__))

    @cached_property
    def message_ends(self) -> list[int]:
        """Their messages only, which are counted faster."""
        return list(accumulate(self.lengths))

    def before(self, row: int) -> Measure:
        return self.ends[row - 1] if row else NOTHING

    def messages_before(self, row: int) -> int:
        return self.message_ends[row - 1] if row else 0


class LazyRows(Sequence[Row]):
    """The rows of a block, each unpacked on first use: a page shows a few of them."""

    def __init__(self, packed: list[list[Any]]) -> None:
        self._packed = packed
        self._rows: dict[int, Row] = {}

    def __len__(self) -> int:
        return len(self._packed)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if place not in self._rows:
            self._rows[place] = unpack_row(self._packed[place])
        return self._rows[place]


@dataclass(frozen=True)
class SectionBlock:
    sections: tuple[SectionRow, ...]

    @cached_property
    def ends(self) -> list[Measure]:
        return list(accumulate((section.measure for section in self.sections), Measure.__add__))

    def before(self, section: int) -> Measure:
        return self.ends[section - 1] if section else NOTHING


class HashedRow(NamedTuple):
    """A row outside of its block, with its pieces and the hash of its messages."""

    row: Row
    pieces: tuple[Piece, ...]
    hash: int


@dataclass(frozen=True, slots=True)
class PackedBlock:
    """A block in its stored form."""

    entry: Entry
    rows: bytes
    hashes: Sequence[int] = ()


def pack_rows(rows: Sequence[HashedRow]) -> PackedBlock:
    pieces = join([piece for row in rows for piece in row.pieces])
    content = [[list(piece) for piece in pieces], [pack_row(row.row) for row in rows]]
    value = concatenate([(row.hash, row.row.messages) for row in rows])
    digest, packed = _packed(content)
    return PackedBlock(Entry(digest, len(rows), measure_rows([row.row for row in rows]), value), packed, [row.hash for row in rows])


@forgettable
@lru_cache(maxsize=AT_HAND)
def unpack_rows(content: bytes) -> RowBlock:
    pieces, rows = unpack(content)
    return RowBlock(LazyRows(rows), tuple(Piece(*piece) for piece in pieces), [row[1] for row in rows])


def hashed_rows(block: RowBlock, hashes: Sequence[int]) -> Iterator[HashedRow]:
    cursor = Cursor(block.pieces)
    for row, value in zip(block.rows, hashes, strict=True):
        yield HashedRow(row, tuple(cursor.take(row.messages)), value)


def pack_sections(sections: Sequence[SectionRow]) -> PackedBlock:
    content = [[*section.measure, section.first.run, section.first.start, section.tools] for section in sections]
    digest, packed = _packed(content)
    return PackedBlock(Entry(digest, len(sections), add_up(section.measure for section in sections)), packed)


@forgettable
@lru_cache(maxsize=AT_HAND)
def unpack_sections(content: bytes) -> SectionBlock:
    return SectionBlock(tuple(SectionRow(Measure(*sums), Piece(run, start, 1), tools) for *sums, run, start, tools in unpack(content)))


def _packed(content: Any) -> tuple[bytes, bytes]:
    """Return the digest of a block and its stored form."""
    text = to_text(content)
    # of the plain form: the deflated one may differ between versions of zlib
    return blake2b(text.encode("ascii"), digest_size=16).digest(), pack_text(text)


@dataclass(frozen=True)
class Listing:
    """All blocks of a snapshot, in order."""

    rows: tuple[Entry, ...] = ()
    sections: tuple[Entry, ...] = ()
    late: LateIds = NO_LATE
    """Ids of calls that have a result outside their row, in order (late_results.py)."""
    request: Request = NO_REQUEST
    """The request of the document, beside its messages."""

    @cached_property
    def total(self) -> Measure:
        # a long chain has far fewer blocks of sections
        return add_up(entry.measure for entry in self.sections or self.rows)

    @cached_property
    def section_count(self) -> int:
        return sum(entry.count for entry in self.sections)

    @cached_property
    def hash(self) -> int:
        return concatenate((entry.hash, entry.measure.messages) for entry in self.rows)

    @cached_property
    def row_ends(self) -> list[Measure]:
        return list(accumulate((entry.measure for entry in self.rows), Measure.__add__))

    @cached_property
    def section_ends(self) -> list[tuple[int, Measure]]:
        """Sections, and their measure, up to and including each block."""
        counts = accumulate(entry.count for entry in self.sections)
        return list(zip(counts, accumulate((e.measure for e in self.sections), Measure.__add__), strict=True))

    @cached_property
    def row_counts(self) -> list[int]:
        """Rows up to and including each block of rows."""
        return list(accumulate(entry.count for entry in self.rows))

    @cached_property
    def message_counts(self) -> list[int]:
        return list(accumulate(entry.measure.messages for entry in self.rows))

    def first_row(self, block: int) -> int:
        return self.row_counts[block - 1] if block else 0

    def first_message(self, block: int) -> int:
        return self.message_counts[block - 1] if block else 0

    def rows_before(self, block: int) -> Measure:
        return self.row_ends[block - 1] if block else NOTHING

    def sections_before(self, block: int) -> tuple[int, Measure]:
        return self.section_ends[block - 1] if block else (0, NOTHING)


def pack_listing(listing: Listing) -> bytes:
    entries = [[_pack_entry(entry) for entry in entries] for entries in (listing.rows, listing.sections)]
    return pack([*entries, listing.late, to_list(listing.request)])


@forgettable
@lru_cache(maxsize=AT_HAND)
def unpack_listing(content: bytes) -> Listing:
    rows, sections, late, request = unpack(content)
    return Listing(tuple(map(_unpack_entry, rows)), tuple(map(_unpack_entry, sections)), LateIds(*map(tuple, late)), from_list(request))


def _pack_entry(entry: Entry) -> list[Any]:
    return [entry.digest.hex(), entry.count, list(entry.measure), entry.hash]


def _unpack_entry(packed: list[Any]) -> Entry:
    digest, count, measure, value = packed
    return Entry(bytes.fromhex(digest), count, Measure(*measure), value)


def evenly(count: int, limit: int = 0) -> Iterator[tuple[int, int]]:
    """Cut `count` items into ranges of about the same length, none longer than `limit`; yields (start, stop)."""
    limit = limit or BLOCK
    parts = -(-count // limit)
    for i in range(parts):
        yield count * i // parts, count * (i + 1) // parts


@dataclass(frozen=True, slots=True)
class Replacement(Generic[T]):
    """Replaces items `start:stop` of the old sequence with `items`."""

    start: int
    stop: int
    items: list[T]


def replace_items(
    entries: Sequence[Entry],
    replacements: Sequence[Replacement[T]],
    unpack: Callable[[Entry], list[T]],
    pack: Callable[[Sequence[T]], Entry],
) -> tuple[Entry, ...]:
    """Return the new sequence, which shares all untouched blocks with the old one. Replacements come in order and do not
    overlap. `unpack` reads the items of a block, `pack` stores a block of them."""
    return _Sequence(unpack, pack).replace(entries, replacements)


class _Sequence(Generic[T]):
    def __init__(self, unpack: Callable[[Entry], list[T]], pack: Callable[[Sequence[T]], Entry]) -> None:
        self._unpack = unpack
        self._pack = pack
        self._done: list[Entry] = []
        self._open: list[T] = []
        """The items after the finished blocks, not in a block yet."""

    def replace(self, entries: Sequence[Entry], replacements: Sequence[Replacement[T]]) -> tuple[Entry, ...]:
        waiting = list(reversed(replacements))
        place = 0
        for entry in entries:
            start, place = place, place + entry.count
            if not waiting or waiting[-1].start >= place:
                self._whole(entry)
                continue
            items = self._unpack(entry)
            kept = start
            while waiting and waiting[-1].start < place:
                one = waiting[-1]
                if one.start >= start:
                    self._open += items[kept - start : one.start - start]
                    self._open += one.items
                kept = min(one.stop, place)
                if one.stop > place:
                    break
                waiting.pop()
            self._open += items[kept - start :]
        for one in reversed(waiting):
            # only insertions behind the last item are left
            self._open += one.items if one.start >= place else []
        self._close(last=True)
        return tuple(self._done)

    def _whole(self, entry: Entry) -> None:
        """Keep an untouched block; opens it only to take in items too few for a block of their own."""
        if self._open and len(self._open) < BLOCK // 4:
            self._open += self._unpack(entry)
            return
        self._close(last=False)
        self._done.append(entry)

    def _close(self, last: bool) -> None:
        if last and self._done and 0 < len(self._open) < BLOCK // 4:
            self._open[:0] = self._unpack(self._done.pop())
        self._done += [self._pack(self._open[low:high]) for low, high in evenly(len(self._open))]
        self._open = []
