"""What the minimap of a chain shows: neighbouring rows in at most 200 blocks, from the outline's sums where the chain is long.

A section's request has a block of its own, and its pairs as many as they are of the chain's rows, so that sections can
be told apart. Only a chain of very many sections is cut evenly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from chainviz.chains.explorer.changed_rows import overlaps
from chainviz.chains.render.drawings.minimap import Block
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.blocks import evenly
from chainviz.store.outline.measures import NOTHING, OPENING, Counts, Measure
from chainviz.store.outline.rows import Kind, Row

MOST_BLOCKS = 200
MOST_STRETCHES = 160
MOST_SECTIONS = MOST_STRETCHES // 2
MOST_ROWS = 2_048
"""A longer chain is drawn from sums alone, so that it costs no more than a short one."""

ROLES = {
    Kind.SYSTEM: "system",
    Kind.HUMAN: "human",
    Kind.REQUEST_RESPONSE: "tool",
    Kind.COMPLETION: "ai",
    Kind.SUMMARIZATION: "summary",
    Kind.NO_AI: "tool",
}


def minimap_blocks(chain: StoredChain, body_role: str = "tool", changed: Sequence[range] = ()) -> list[Block]:
    """`body_role`: whose bytes most of the chain's pairs are made of; the pairs of a long chain take it all. `changed`: the
    messages that the draft has changed, in order."""
    return [replace(block, is_changed=overlaps(changed, block.start, block.messages)) for block in _blocks(chain, body_role)]


def _blocks(chain: StoredChain, body_role: str) -> list[Block]:
    listing = chain.outline.listing
    if listing.total.rows > MOST_ROWS:
        return _joined(list(_from_sums(chain, body_role)))
    chain.outline.blocks.load_rows(entry.digest for entry in listing.rows)
    return _joined(list(_from_rows(row for index in range(len(listing.rows)) for row in chain.outline.row_block(index).rows)))


def _from_rows(rows: Iterable[Row]) -> Iterator[Block]:
    start = section = 0
    after_pair = True
    for row in rows:
        is_header = row.kind.is_header
        section += (is_header and after_pair) or not section
        yield Block(start, row.messages, row.size, ROLES[row.kind], _count(row.measure.problems), section, is_header)
        start += row.messages
        after_pair = not is_header


def _from_sums(chain: StoredChain, body_role: str) -> Iterator[Block]:
    """Sums are known at the borders of the outline's blocks and, where the chain has few, of its sections."""
    listing = chain.outline.listing
    before, section, is_header = NOTHING, 0, False
    for sums, number, begins_header in _borders(chain):
        if sums.messages > before.messages:
            yield _between(before, sums, section, is_header, body_role)
        before, section, is_header = sums, number or section, begins_header
    yield _between(before, listing.total, section, is_header, body_role)


def _borders(chain: StoredChain) -> list[tuple[Measure, int, bool]]:
    """Sums up to each border, the section that begins there (0 for none), and whether its header follows; in order."""
    listing = chain.outline.listing
    borders = [(sums, 0, False) for sums in listing.row_ends[:-1]]
    if listing.section_count <= MOST_SECTIONS:
        for place in chain.outline.sections(1, listing.section_count + 1):
            measure = place.measure
            header = Measure(headers=measure.headers, messages=measure.headers, size=measure.header_size)
            borders += [(place.before, place.number, True), (place.before + header, place.number, False)]
    # where a block ends with a section, the section's border is the one that counts
    return sorted(borders, key=lambda border: (border[0].messages, border[1] > 0, not border[2]))


def _between(low: Measure, high: Measure, section: int, is_header: bool, body_role: str) -> Block:
    size = high.size - low.size
    header = high.header_size - low.header_size
    role = "human" if is_header or header * 2 > size else body_role
    problems = max(0, _count(high.problems) - _count(low.problems))
    return Block(low.messages, high.messages - low.messages, size, role, problems, section, is_header)


def _joined(cells: Sequence[Block]) -> list[Block]:
    """Neighbours together where there are too many; the role that has most bytes gives its colour."""
    stretches = [list(group) for _, group in groupby(cells, key=lambda cell: (cell.section, cell.is_header and cell.role))]
    if len(stretches) > MOST_STRETCHES:
        return [_join(cells[low:high]) for low, high in evenly(len(cells), -(-len(cells) // MOST_BLOCKS))]
    left = MOST_BLOCKS - len(stretches)
    blocks = []
    for stretch in stretches:
        count = 1 + left * (len(stretch) - 1) // max(1, len(cells))
        blocks += [_join(stretch[low:high]) for low, high in evenly(len(stretch), -(-len(stretch) // count))]
    return blocks


def _join(group: Sequence[Block]) -> Block:
    if len(group) == 1:
        return group[0]
    sizes: dict[str, int] = {}
    for block in group:
        sizes[block.role] = sizes.get(block.role, 0) + block.size
    first = group[0]
    return Block(
        first.start,
        sum(block.messages for block in group),
        sum(block.size for block in group),
        max(sizes, key=lambda role: sizes[role]),
        sum(block.problems for block in group),
        first.section if group[-1].section == first.section else 0,
        all(block.is_header for block in group),
    )


def _count(problems: Counts) -> int:
    """Problems of the tree; what single providers say is not marked here."""
    return sum(sum(numbers[:2]) for key, numbers in problems.items() if key in ("", OPENING))
