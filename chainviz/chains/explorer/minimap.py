"""What the minimap of a chain shows: its rows in at most 160 blocks, from the outline's sums where it is long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chainviz.chains.render.minimap import Block
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.measures import Counts
from chainviz.store.outline.rows import OPENING, Kind, Row

MOST_BLOCKS = 160
MOST_ROWS = 2_048
"""A longer chain is drawn from blocks of the outline alone, so that it costs no more than a short one."""

ROLES = {
    Kind.SYSTEM: "system",
    Kind.HUMAN: "human",
    Kind.REQUEST_RESPONSE: "tool",
    Kind.COMPLETION: "ai",
    Kind.SUMMARIZATION: "summary",
    Kind.NO_AI: "tool",
}


def minimap_blocks(chain: StoredChain, body_role: str = "tool") -> list[Block]:
    """`body_role`: whose bytes most of the chain's pairs are made of; a long chain's blocks take it all."""
    listing = chain.outline.listing
    if listing.total.rows > MOST_ROWS:
        return list(_joined(_from_listing(chain, body_role), len(listing.rows)))
    chain.outline.blocks.load_rows(entry.digest for entry in listing.rows)
    rows = [row for index in range(len(listing.rows)) for row in chain.outline.row_block(index).rows]
    return list(_joined(_from_rows(rows), len(rows)))


def _from_rows(rows: Iterable[Row]) -> Iterator[Block]:
    start = 0
    after_pair = False
    for row in rows:
        is_header = row.kind.is_header
        yield Block(start, row.messages, row.size, ROLES[row.kind], _count(row.measure.problems), is_header and after_pair)
        start += row.messages
        after_pair = not is_header


def _from_listing(chain: StoredChain, body_role: str) -> Iterator[Block]:
    for index, entry in enumerate(chain.outline.listing.rows):
        measure = entry.measure
        role = "human" if measure.header_size * 2 > measure.size else body_role
        start = chain.outline.listing.rows_before(index).messages
        yield Block(start, measure.messages, measure.size, role, _count(measure.problems))


def _joined(blocks: Iterable[Block], count: int) -> Iterator[Block]:
    """Neighbours together where there are too many; the role that has most bytes gives its colour."""
    step = max(1, -(-count // MOST_BLOCKS))
    group: list[Block] = []
    for block in blocks:
        group.append(block)
        if len(group) == step:
            yield _join(group)
            group = []
    if group:
        yield _join(group)


def _join(group: list[Block]) -> Block:
    if len(group) == 1:
        return group[0]
    sizes: dict[str, int] = {}
    for block in group:
        sizes[block.role] = sizes.get(block.role, 0) + block.size
    return Block(
        group[0].start,
        sum(block.messages for block in group),
        sum(block.size for block in group),
        max(sizes, key=lambda role: sizes[role]),
        sum(block.problems for block in group),
        group[0].starts_section,
    )


def _count(problems: Counts) -> int:
    """Problems of the tree; what single providers say is not marked here."""
    return sum(sum(numbers[:2]) for key, numbers in problems.items() if key in ("", OPENING))
