"""Sizes as SVG: rows of blocks, each a link with words for readers who do not see it, and the growth of a chain.

In the growth, a line is solid for recorded and dashed for stored tokens; a dotted line is the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.chains.render.visible_text import one_line, safe
from chainviz.web.formatting import round_tokens_text

WIDTH = 690.0
STRIP, ZOOM, ROW = 22, 16, 28
LETTER = 6.2
"""The width of a letter."""
LEAST_LETTERS = 4
"""The fewest letters of a shortened label."""


@dataclass(frozen=True, slots=True)
class Block:
    x: float
    width: float
    row: int
    """0 is the strip of sections."""
    role: str
    """ "" for sections."""
    labels: tuple[str, ...]
    """The possible labels; the first that fits is drawn."""
    words: str
    """The text for screen readers."""
    url: str = ""
    select_url: str = ""
    """The address that selects its results, or what it counts."""
    part: str = ""
    """Path of the part that it is; "" for anything else. Such a block can be selected."""
    kind: str = ""
    size: int = 0
    is_here: bool = False
    """The section whose parts are shown below."""
    is_picked: bool = False


def bytes_svg(blocks: Sequence[Block], zoom: tuple[float, float] | None, label: str) -> str:
    """Draw the chart. `zoom` is the range of the strip that the rows below it cover."""
    rows = max((block.row for block in blocks), default=0)
    height = STRIP + ZOOM + ROW * rows if rows else STRIP
    wedge = ""
    if zoom is not None and rows:
        low, high = zoom
        wedge = f'<path class="zoom" d="M{low:.1f} {STRIP}H{high:.1f}L{WIDTH:.0f} {STRIP + ZOOM}H0Z"/>'
    drawn = "".join(map(_block, blocks))
    return f'<svg class="chart bytes-chart" viewBox="0 0 {WIDTH:.0f} {height}" role="group" aria-label="{safe(label)}">{wedge}{drawn}</svg>'


def _block(block: Block) -> str:
    y = STRIP + ZOOM + ROW * (block.row - 1) if block.row else 0
    height = ROW - 1 if block.row else STRIP
    width = max(0.5, block.width - 0.5)
    classes = " ".join(name for name, has in (("here", block.is_here), ("picked", block.is_picked), ("part", bool(block.kind))) if has)
    look = (f' class="{classes}"' if classes else "") + (f' data-role="{block.role}"' if block.role else ' data-state="quiet"')
    box = f'<rect x="{block.x:.1f}" y="{y}" width="{width:.1f}" height="{height}"/>'
    letters = int((width - 6) / LETTER)
    cut = one_line(block.labels[-1], letters) if letters >= LEAST_LETTERS else ""
    label = next((each for each in block.labels if len(each) <= letters), cut)
    if label:
        box += f'<text x="{block.x + 4:.1f}" y="{y + height / 2 + 4:.0f}">{safe(label)}</text>'
    words = safe(one_line(block.words, 200))
    if not block.url:
        return f'<g{look} role="img" aria-label="{words}">{box}</g>'
    part = f' data-go="{block.part}" data-part="{block.part}" data-kind="{block.kind}" data-size="{block.size}"'
    select = f' data-select="{safe(block.select_url)}"' if block.select_url else ""
    leads = part if block.part else f" data-level{select}"
    here = ' aria-current="true"' if block.is_here else ""
    return f'<a href="{safe(block.url)}"{look}{leads}{here} aria-label="{words}">{box}</a>'


GROWTH_WIDTH, GROWTH_HEIGHT = 312, 122
LEFT, RIGHT, TOP, BOTTOM = 38, 304, 12, 100
MOST_WINDOWS = 4
"""The most windows that fit into the height of the chart."""
Line = Sequence[tuple[int, int]]
"""Turn and tokens."""


@dataclass(frozen=True, slots=True)
class GrowthLines:
    recorded: Line
    stored: Line
    window: int | None
    turns: int
    passing: int | None
    """The turn at which the stored chain exceeds the window."""


def growth_svg(lines: GrowthLines, label: str) -> str:
    scale = _Scale(lines)
    ticks = [0, scale.most // 2, scale.most]
    grid = "".join(f"M{LEFT} {scale.y(tick):.1f}H{RIGHT}" for tick in ticks)
    limit = f'<path class="limit" d="M{LEFT} {scale.y(lines.window):.1f}H{RIGHT}"/>' if lines.window else ""
    heights = "".join(
        f'<text x="{LEFT - 4}" y="{scale.y(tick) + 3:.1f}" text-anchor="end">{round_tokens_text(tick)}</text>' for tick in ticks
    )
    drawn = "".join(
        f'<polyline class="{name}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in scale.points(line))}"/>'
        for name, line in (("stored", lines.stored), ("recorded", lines.recorded))
        if line
    )
    return (
        f'<svg class="growth-chart" viewBox="0 0 {GROWTH_WIDTH} {GROWTH_HEIGHT}" role="img" aria-label="{safe(label)}">'
        f'<path class="grid" d="{grid}"/>{limit}{heights}{drawn}{_turns(lines, scale)}</svg>'
    )


def _turns(lines: GrowthLines, scale: _Scale) -> str:
    y = BOTTOM + 18
    marks = f'<text x="{LEFT}" y="{y}">turn 1</text><text x="{RIGHT}" y="{y}" text-anchor="end">{lines.turns:,}</text>'
    if lines.passing is None or lines.window is None:
        return marks
    x = scale.x(lines.passing)
    marks += f'<circle class="meet" cx="{x:.1f}" cy="{scale.y(lines.window):.1f}" r="3"/>'
    is_free = LEFT + 50 < x < RIGHT - 40
    return marks + (f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{lines.passing:,}</text>' if is_free else "")


class _Scale:
    def __init__(self, lines: GrowthLines) -> None:
        self.turns = lines.turns
        recorded, stored = (max((tokens for _, tokens in line), default=0) for line in (lines.recorded, lines.stored))
        # what is stored may be far larger than the window: it leaves the chart there
        window = lines.window or stored
        self.most = max(recorded, window, min(stored, MOST_WINDOWS * window), 1)

    def x(self, turn: int) -> float:
        return LEFT + (turn - 1) / max(1, self.turns - 1) * (RIGHT - LEFT)

    def y(self, tokens: int) -> float:
        return BOTTOM - min(1.0, tokens / self.most) * (BOTTOM - TOP)

    def points(self, line: Line) -> list[tuple[float, float]]:
        """Return the points up to the first that is above the chart."""
        found: list[tuple[float, float]] = []
        for turn, tokens in line:
            found.append((self.x(turn), self.y(tokens)))
            if tokens > self.most:
                break
        return found
