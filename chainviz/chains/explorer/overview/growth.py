"""How a chain grows from turn to turn: the prompts that it records, and what it holds itself, against the context window.

A turn is a pair. Of a long chain the turns of a block of its outline are one point, and their prompts a mean, so that a
chain of any length costs the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.chains.explorer.overview.minimap_blocks import MOST_ROWS
from chainviz.core.usage.estimate import estimated_tokens
from chainviz.core.usage.recorded import TokenUsage
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.measures import Counts

MOST_POINTS = 160
TABLE_ROWS = 7


@dataclass(frozen=True, slots=True)
class Point:
    turn: int
    """The last turn that it stands for, from 1."""
    message: int
    """Where that turn begins, or the first of several."""
    prompt: int | None
    """Tokens as recorded, cache included; the mean of several turns; None where nothing is recorded."""
    stored: int
    """Tokens that the chain holds up to here, estimated."""


@dataclass(frozen=True, slots=True)
class Growth:
    points: tuple[Point, ...]
    is_mean: bool
    window: int | None
    """Of the recorded model."""
    passing: Point | None
    """The first turn after which the stored chain is larger than the window."""

    @property
    def turns(self) -> int:
        return self.points[-1].turn

    @property
    def most_recorded(self) -> int | None:
        return max((point.prompt for point in self.points if point.prompt is not None), default=None)

    @property
    def last_recorded(self) -> int | None:
        """None where turns share a point: a mean is no prompt that was sent."""
        return None if self.is_mean else next((point.prompt for point in reversed(self.points) if point.prompt is not None), None)

    def table(self) -> list[Point]:
        """Some turns from the first to the last."""
        last = len(self.points) - 1
        places = sorted({round(last * step / (TABLE_ROWS - 1)) for step in range(TABLE_ROWS)})
        return [self.points[place] for place in places]

    def drawn(self) -> list[Point]:
        """As many points as can be told apart: of neighbours the lowest and the highest prompt."""
        return list(_thinned(self.points))


def growth_of(chain: StoredChain, window: int | None) -> Growth | None:
    """None for a chain of fewer than two turns."""
    listing = chain.outline.listing
    is_long = listing.total.rows > MOST_ROWS
    if not is_long:
        chain.outline.blocks.load_rows(entry.digest for entry in listing.rows)
    points = tuple(_from_sums(chain) if is_long else _from_rows(chain, 0))
    return Growth(points, is_long, window, _passing(chain, window) if window else None) if len(points) > 1 else None


def _passing(chain: StoredChain, window: int) -> Point | None:
    """Of a long chain only the block in which it happens is read."""
    ends = enumerate(chain.outline.listing.row_ends)
    begin = next((index for index, end in ends if estimated_tokens(end.size) > window), None)
    if begin is None:
        return None
    return next((point for point in _from_rows(chain, begin) if point.stored > window), None)


def _from_rows(chain: StoredChain, begin: int) -> Iterator[Point]:
    """The turns from a block of the outline on."""
    outline = chain.outline
    before = outline.listing.rows_before(begin)
    turn, message, size = before.pairs, before.messages, before.size
    for index in range(begin, len(outline.listing.rows)):
        for row in outline.row_block(index).rows:
            size += row.size
            if not row.kind.is_header:
                turn += 1
                yield Point(turn, message, _prompt(row.usage), estimated_tokens(size))
            message += row.messages


def _from_sums(chain: StoredChain) -> Iterator[Point]:
    listing = chain.outline.listing
    for index, (entry, end) in enumerate(zip(listing.rows, listing.row_ends, strict=True)):
        if entry.measure.pairs:
            start = listing.rows_before(index).messages
            yield Point(end.pairs, start, _prompt(entry.measure.usage), estimated_tokens(end.size))


def _prompt(usage: Counts) -> int | None:
    recorded = [TokenUsage(*numbers) for numbers in usage.values()]
    calls = sum(each.calls for each in recorded)
    return sum(each.input for each in recorded) // calls if calls else None


def _thinned(points: Sequence[Point]) -> Iterator[Point]:
    step = -(-len(points) // (MOST_POINTS // 2))
    if step <= 2:
        yield from points
        return
    for start in range(0, len(points), step):
        group = points[start : start + step]
        recorded = [point for point in group if point.prompt is not None] or group
        ends = {min(recorded, key=_height), max(recorded, key=_height)}
        yield from sorted(ends, key=lambda point: point.turn)
    yield points[-1]


def _height(point: Point) -> int:
    return point.prompt or 0
