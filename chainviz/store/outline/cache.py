"""Write and read the blocks and listings of outlines in the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field

from django.db import connection

from chainviz.store.content.runs import Batch
from chainviz.store.models import Outline, OutlineBlock
from chainviz.store.outline.blocks import (
    Listing,
    PackedBlock,
    RowBlock,
    SectionBlock,
    pack_hashes,
    unpack_hashes,
    unpack_listing,
    unpack_rows,
    unpack_sections,
)
from chainviz.store.outline.measures import NONE, OPENING, Counts, Measure

BATCH = 64
"""The number of blocks written at once."""


class BlockWriter:
    """Writes blocks of one history, a batch at a time."""

    def __init__(self, history_id: int, batch: Batch = nullcontext) -> None:
        """`batch` opens the transaction of each batch."""
        self._history_id = history_id
        self._batch = batch
        self._waiting: list[PackedBlock] = []

    def __call__(self, block: PackedBlock) -> None:
        self._waiting.append(block)
        if len(self._waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        rows = {block.entry.digest: block for block in self._waiting}
        blocks = [
            OutlineBlock(history_id=self._history_id, digest=digest, rows=block.rows, hashes=pack_hashes(block.hashes))
            for digest, block in rows.items()
        ]
        with self._batch():
            OutlineBlock.objects.bulk_create(blocks, ignore_conflicts=True)
        self._waiting = []


FEW = 6
"""The number of blocks of rows up to which all blocks of a chain are read at once."""


@dataclass
class BlockReader:
    """Blocks of one history, read at most once each."""

    history_id: int
    rows: dict[bytes, RowBlock] = field(default_factory=dict)
    sections: dict[bytes, SectionBlock] = field(default_factory=dict)
    hashes: dict[bytes, list[int]] = field(default_factory=dict)
    with_hashes: bool = False
    """Read the hashes together with the rows, because an edit needs both."""
    listing: Listing | None = None
    """The listing whose blocks are read together with the first one: all of a short chain, and the first ones of a long chain."""

    def load_rows(self, digests: Iterable[bytes], *, hashes: bool = False) -> None:
        self._load({d for d in digests if d not in self.rows or (hashes and d not in self.hashes)}, set(), hashes or self.with_hashes)

    def load_sections(self, digests: Iterable[bytes]) -> None:
        self._load(set(), {d for d in digests if d not in self.sections}, self.with_hashes)

    def _load(self, rows: set[bytes], sections: set[bytes], hashes: bool) -> None:
        if not rows and not sections:
            return
        if self.listing is not None:
            count = None if len(self.listing.rows) <= FEW else 1
            rows |= {entry.digest for entry in self.listing.rows[:count]}
            sections |= {entry.digest for entry in self.listing.sections[:count]}
            self.listing = None
        for digest, content, packed in self._fetch(rows | sections, "hashes" if hashes else "digest"):
            if digest in sections:
                self.sections[digest] = unpack_sections(content)
                continue
            self.rows[digest] = unpack_rows(content)
            if hashes:
                self.hashes[digest] = unpack_hashes(packed)

    def _fetch(self, digests: set[bytes], column: str) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Yield digest, content and a column of blocks. In plain SQL, since building the query would take longer than the query."""
        wanted = list(digests)
        found = 0
        table = connection.ops.quote_name(OutlineBlock._meta.db_table)
        for i in range(0, len(wanted), 500):
            some = wanted[i : i + 500]
            marks = ", ".join(["%s"] * len(some))
            with connection.cursor() as cursor:
                query = f'SELECT digest, "rows", {column} FROM {table} WHERE history_id = %s AND digest IN ({marks})'
                cursor.execute(query, [self.history_id, *some])
                blocks = cursor.fetchall()
            found += len(blocks)
            for block in blocks:
                digest, content, value = map(bytes, block)
                yield digest, content, value
        if found != len(wanted):
            raise LookupError("a block of the outline is missing; the outline has to be rebuilt")


def fetch_together(wanted: Iterable[tuple[BlockReader, bytes]]) -> Iterator[tuple[BlockReader, bytes, bytes | memoryview]]:
    """Yield blocks of several histories (reader, digest, content), read in one query. A missing block is left out; its reader reports
    it."""
    readers = {(reader.history_id, digest): reader for reader, digest in wanted}
    histories, digests = {history for history, _ in readers}, {digest for _, digest in readers}
    found = OutlineBlock.objects.filter(history__in=histories, digest__in=digests)
    for history, digest, content in found.values_list("history", "digest", "rows"):
        reader = readers.get((history, bytes(digest)))
        if reader is not None:
            yield reader, bytes(digest), content


def visible_problems(measure: Measure, sections: int) -> Counts:
    """Return the counts that pages show. The problem of a missing opening counts only if the chain has a second section."""
    counts = {key: list(numbers) for key, numbers in measure.problems.items() if key != OPENING}
    opening = measure.problems.get(OPENING)
    if opening and sections > 1:
        counts[""] = [a + b for a, b in zip(counts.get("", NONE), opening, strict=True)]
    return counts


def listing_of(outline: Outline) -> Listing:
    return unpack_listing(bytes(outline.listing))
