"""The minimap: at most 200 blocks, each a link, as one SVG.

A block's colour is whose bytes it is made of; its height, width and strength grow with its bytes. A mark on its right
says that it has problems, one on its left that the draft has changed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from chainviz.chains.render.numbers import count_text
from chainviz.chains.render.visible_text import safe
from chainviz.web.formatting.byte_text import byte_text

LEAST = 4.0
HEIGHT = 800.0
GAP = 0.25
"""Of a block's height, at most one unit: between it and the next."""
SECTION_GAP = 2.0
WIDTHS = (11, 16, 22)
NAMES = {"system": "system message", "human": "request"}


@dataclass(frozen=True, slots=True)
class Block:
    """Some neighbouring rows."""

    start: int
    """Their first message."""
    messages: int
    size: int
    role: str
    problems: int
    section: int = 0
    """In which all of them lie; 0 where they lie in several."""
    is_header: bool = False
    is_changed: bool = False
    """By the draft."""


def minimap_svg(blocks: Sequence[Block], base_url: str) -> str:
    starts = [block.section and not (place and blocks[place - 1].section == block.section) for place, block in enumerate(blocks)]
    heights = [LEAST + sqrt(block.size) for block in blocks]
    gaps = SECTION_GAP * sum(map(bool, starts[1:]))
    scale = (HEIGHT - gaps) / max(1.0, sum(heights))
    average = sum(block.size for block in blocks) / max(1, len(blocks))
    links: list[str] = []
    flags: list[str] = []
    changes: list[str] = []
    y = 0.0
    for block, height, begins in zip(blocks, heights, starts, strict=True):
        y += SECTION_GAP * bool(begins and links)
        drawn = max(0.5, height * scale - min(1.0, height * scale * GAP))
        links.append(_link(block, base_url, (y, drawn), average))
        if block.problems:
            flags.append(f"M27 {y:.1f}v{max(drawn, 3):.1f}")
        if block.is_changed:
            changes.append(f"M1 {y:.1f}v{max(drawn, 3):.1f}")
        y += height * scale
    return (
        f'<svg class="minimap" viewBox="0 0 30 {HEIGHT:.0f}" preserveAspectRatio="none" role="group" '
        f'aria-label="The whole chain, {count_text(len(blocks), "block")}" data-minimap>'
        f'{"".join(links)}<path class="flags" d="{"".join(flags)}"/><path class="changes" d="{"".join(changes)}"/>'
        f'<path class="hit-ticks" d="" data-hit-ticks/>'
        f'<rect class="view" x="0.5" y="0" width="29" height="0" rx="2" data-frame/></svg>'
    )


def _link(block: Block, base_url: str, place: tuple[float, float], average: float) -> str:
    y, height = place
    share = block.size / average if average else 0
    step = 2 if block.is_header or share >= 2 else 1 if share >= 0.5 else 0
    strength = 1 if block.is_header else min(1.0, 0.5 + share / 4)
    return (
        f'<a href="{safe(base_url)}rows?near={block.start}" data-at="{block.start}" data-role="{block.role}" '
        f'aria-label="{_words(block)}"><rect x="2" y="{y:.1f}" width="{WIDTHS[step]}" height="{height:.1f}" '
        f'rx="1" fill-opacity="{strength:.2f}"/></a>'
    )


def _words(block: Block) -> str:
    messages = count_text(block.messages, "message")
    name = NAMES.get(block.role, "") if block.is_header and block.messages == 1 else ""
    what = name or f"{messages} from {block.start + 1:,}"
    said = f"Section {block.section}: {what}" if block.section else what[0].upper() + what[1:]
    problems = f", {count_text(block.problems, 'problem')}" if block.problems else ""
    return f"{said}, {byte_text(block.size)}{problems}{', changed' if block.is_changed else ''}"
