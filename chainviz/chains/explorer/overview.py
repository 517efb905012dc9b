"""The explorer's overview of a whole chain: the minimap, the growth chart and the recorded last call. They depend only on the snapshot, so
they are computed once and stored.

Minimap: at most 200 blocks of neighbouring rows. The request of a section has its own block, and its pairs get blocks in proportion to
their rows, so that sections can be told apart. Only a chain with very many sections is cut evenly.

Growth: the recorded prompt tokens and the stored size after each turn, compared with the context window. A turn is a pair. In a long
chain, the turns of one outline block form one point with their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from typing import Any

from chainviz.chains.explorer.row_views import overlaps
from chainviz.chains.render.minimap import Block, joined
from chainviz.chains.usage import ContextWindow, by_model, last_call, recorded_times, recorded_usage, uploaded_outline, window_of
from chainviz.core.usage.model_catalog import ChainUsage, estimated_tokens
from chainviz.core.usage.recorded import LastCall, TokenUsage, usage_warning
from chainviz.core.usage.times import Times
from chainviz.store.content.chain import StoredChain
from chainviz.store.derived import DerivedKind
from chainviz.store.models import Outline
from chainviz.store.outline.blocks import evenly
from chainviz.store.outline.measures import NOTHING, OPENING, Counts, Measure, unpack_charts
from chainviz.store.outline.rows import Kind, Row

MOST_BLOCKS = 200
MOST_STRETCHES = 160
MOST_SECTIONS = MOST_STRETCHES // 2
MOST_ROWS = 10_000
"""The longest chain that is drawn row by row. A longer one is drawn from sums, so that it costs no more than a short one."""
MOST_POINTS = 60
TABLE_ROWS = 7

ROLES = {
    Kind.SYSTEM: "system",
    Kind.HUMAN: "human",
    Kind.REQUEST_RESPONSE: "tool",
    Kind.COMPLETION: "ai",
    Kind.SUMMARIZATION: "summary",
    Kind.NO_AI: "tool",
}
OVERVIEW = DerivedKind("overview", 2)


@dataclass(frozen=True, slots=True)
class Point:
    turn: int
    """The number of the last turn of the point, from 1."""
    message: int
    """The path of the first turn of the point."""
    prompt: int | None
    """Recorded prompt tokens, including the cache; the mean of several turns; None if nothing is recorded."""
    stored: int
    """The estimated tokens of the chain up to this turn."""


@dataclass(frozen=True, slots=True)
class Growth:
    points: tuple[Point, ...]
    """As many points as can be told apart: the lowest and the highest prompt among neighbours."""
    is_mean: bool
    window: int | None
    """The context window of the recorded model, in tokens."""
    passing: Point | None
    """The first turn after which the stored chain is larger than the window."""

    @property
    def turns(self) -> int:
        return self.points[-1].turn

    @property
    def most_recorded(self) -> int | None:
        return max((point.prompt for point in self.points if point.prompt is not None), default=None)

    def table(self) -> list[Point]:
        """Return a few turns, including the first and the last, for the labels of the axis."""
        last = len(self.points) - 1
        places = sorted({round(last * step / (TABLE_ROWS - 1)) for step in range(TABLE_ROWS)})
        return [self.points[place] for place in places]


@dataclass(frozen=True, slots=True)
class Overview:
    blocks: tuple[Block, ...]
    growth: Growth | None
    """The growth; None for a chain with fewer than two turns."""
    usage: ChainUsage
    times: Times
    last_call: LastCall | None
    """The last call with recorded tokens."""
    window: ContextWindow | None

    @property
    def warning(self) -> str:
        """A warning about the recorded usage; "" if it is plausible."""
        return usage_warning(self.last_call, self.window.tokens if self.window else None)

    def changed_blocks(self, changed: Sequence[range]) -> list[Block]:
        """Return the blocks with a mark where the draft has changed messages; `changed` are their ranges, in order."""
        if not changed:
            return list(self.blocks)
        return [replace(block, is_changed=overlaps(changed, block.start, block.messages)) for block in self.blocks]


def overview_of(chain: StoredChain, outline: Outline, content: bytes | None = None) -> Overview:
    """Return the overview of a snapshot. `content` is its stored value, if a query has already read it (OVERVIEW.column)."""
    blocks, growth, usage, model, times, call = OVERVIEW.get(chain.snapshot, lambda: _packed(chain, outline), content=content)
    last = LastCall(TokenUsage(*call[:-1]), call[-1]) if call else None
    window = window_of(model, last.window if last else None)
    if growth and growth[2] != (window.tokens if window else None):  # the settings have a different window for the model since then
        growth = pack_growth(growth_of(chain, window.tokens if window else None))
    shown = tuple(Block(*block) for block in blocks)
    return Overview(shown, unpack_growth(growth), ChainUsage(by_model(usage), model), Times(*times), last, window)


def _packed(chain: StoredChain, outline: Outline) -> list[Any]:
    outline.snapshot = chain.snapshot
    uploaded = uploaded_outline(outline)
    usage, call = recorded_usage(uploaded), last_call(uploaded)
    window = window_of(usage.model, call.window if call else None)
    blocks = [list(astuple(block)) for block in minimap_blocks(chain, _body_role(outline))]
    growth = pack_growth(growth_of(chain, window.tokens if window else None))
    by_name = {name: list(each) for name, each in usage.by_model.items()}
    return [blocks, growth, by_name, usage.model, recorded_times(outline), [*call.usage, call.window] if call else None]


def pack_growth(growth: Growth | None) -> list[Any] | None:
    return None if growth is None else list(astuple(growth))


def unpack_growth(packed: list[Any] | None) -> Growth | None:
    if packed is None:
        return None
    points, is_mean, window, passing = packed
    return Growth(tuple(Point(*point) for point in points), is_mean, window, Point(*passing) if passing else None)


def _body_role(outline: Outline) -> str:
    """Return the role that wrote most bytes of the chain's pairs."""
    roles = unpack_charts(outline.charts).roles
    sizes = {role: roles[role][1] for role in ("tool", "ai") if role in roles}
    return max(sizes, key=lambda role: sizes[role], default="tool")


def minimap_blocks(chain: StoredChain, body_role: str = "tool") -> list[Block]:
    """Return the blocks of the minimap. `body_role` is the role that colours the pairs of a long chain."""
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
    """Return the blocks of a long chain from the sums at the borders of outline blocks and, if there are few, of sections."""
    listing = chain.outline.listing
    before, section, is_header = NOTHING, 0, False
    for sums, number, begins_header in _borders(chain):
        if sums.messages > before.messages:
            yield _between(before, sums, section, is_header, body_role)
        before, section, is_header = sums, number or section, begins_header
    yield _between(before, listing.total, section, is_header, body_role)


def _borders(chain: StoredChain) -> list[tuple[Measure, int, bool]]:
    """Yield, for each border in order, the sum up to it, the section that begins there (0 for none), and whether its header follows."""
    listing = chain.outline.listing
    borders = [(sums, 0, False) for sums in listing.row_ends[:-1]]
    if listing.section_count <= MOST_SECTIONS:
        for place in chain.outline.sections(1, listing.section_count + 1):
            measure = place.measure
            header = Measure(headers=measure.headers, messages=measure.headers, size=measure.header_size)
            borders += [(place.before, place.number, True), (place.before + header, place.number, False)]
    # if a block ends with a section, the border of the section counts
    return sorted(borders, key=lambda border: (border[0].messages, border[1] > 0, not border[2]))


def _between(low: Measure, high: Measure, section: int, is_header: bool, body_role: str) -> Block:
    size = high.size - low.size
    header = high.header_size - low.header_size
    role = "human" if is_header or header * 2 > size else body_role
    problems = max(0, _count(high.problems) - _count(low.problems))
    return Block(low.messages, high.messages - low.messages, size, role, problems, section, is_header)


def _joined(cells: Sequence[Block]) -> list[Block]:
    """Join neighbouring blocks if there are too many. The role with the most bytes determines the colour."""
    stretches = [list(group) for _, group in groupby(cells, key=lambda cell: (cell.section, cell.is_header and cell.role))]
    if len(stretches) > MOST_STRETCHES:
        return [joined(cells[low:high]) for low, high in evenly(len(cells), -(-len(cells) // MOST_BLOCKS))]
    left = MOST_BLOCKS - len(stretches)
    blocks = []
    for stretch in stretches:
        count = 1 + left * (len(stretch) - 1) // max(1, len(cells))
        blocks += [joined(stretch[low:high]) for low, high in evenly(len(stretch), -(-len(stretch) // count))]
    return blocks


def _count(problems: Counts) -> int:
    """Return the number of problems of the tree. Problems of single providers are not marked in the minimap."""
    return sum(sum(numbers[:2]) for key, numbers in problems.items() if key in ("", OPENING))


def growth_of(chain: StoredChain, window: int | None) -> Growth | None:
    points = turn_points(chain)
    if len(points) < 2:
        return None
    is_mean = chain.outline.listing.total.rows > MOST_ROWS
    return Growth(tuple(_thinned(points)), is_mean, window, _passing(chain, window) if window else None)


def turn_points(chain: StoredChain) -> list[Point]:
    listing = chain.outline.listing
    if listing.total.rows > MOST_ROWS:
        return list(_points_of_blocks(chain))
    chain.outline.blocks.load_rows(entry.digest for entry in listing.rows)
    return list(_points_of_rows(chain, 0))


def _passing(chain: StoredChain, window: int) -> Point | None:
    """Return the point at which the chain exceeds the context window. In a long chain, only the block with that point is read."""
    ends = enumerate(chain.outline.listing.row_ends)
    begin = next((index for index, end in ends if estimated_tokens(end.size) > window), None)
    if begin is None:
        return None
    return next((point for point in _points_of_rows(chain, begin) if point.stored > window), None)


def _points_of_rows(chain: StoredChain, begin: int) -> Iterator[Point]:
    """Yield the turns from an outline block on."""
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


def _points_of_blocks(chain: StoredChain) -> Iterator[Point]:
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
