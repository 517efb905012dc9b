"""Draw sizes as SVG: rows of blocks, each a link with words for readers who do not see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.chains.render.visible_text import one_line, safe

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
    classes = " ".join(
        name for name, has in (("here", block.is_here), ("picked", block.is_picked), ("part", bool(block.kind))) if has
    )
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
