"""The minimap: the blocks of a chain as one SVG, drawn as a few paths, under at most 16 links to their rows.

A block has the colour of the role that wrote most of it; its height, width and shade grow with its bytes. A mark on its right means
problems, one on its left a change of the draft.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from chainviz.chains.render.visible_text import safe
from chainviz.core.counts import count_text
from chainviz.store.outline.blocks import evenly
from chainviz.web.formatting import byte_text

LEAST = 4.0
HEIGHT = 2_000.0
"""Large enough for whole numbers, which take fewer bytes."""
GAP, MOST_GAP = 0.25, 2.5
"""The gap to the next block, as a share of the block's height, and the largest one."""
SECTION_GAP = 5.0
LEAST_MARK = 8.0
LEFT, NARROW, WIDE = 2, 5, 22
LARGE_SHARE = 2.0
"""A block of at least this many times the average size has the full width and strength."""
MOST_LINKS = 16
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
    """The section that contains all of them; 0 if there are several."""
    is_header: bool = False
    is_changed: bool = False
    """True if the draft changed it."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    block: Block
    y: float
    height: float


def minimap_svg(blocks: Sequence[Block], base_url: str) -> str:
    drawn = _place_blocks(blocks)
    groups = [drawn[low:high] for low, high in evenly(len(drawn), -(-len(drawn) // MOST_LINKS))]
    links = "".join(_link(group, base_url) for group in groups)
    flags = "".join(f"M27 {each.y:.0f}v{max(each.height, LEAST_MARK):.0f}" for each in drawn if each.block.problems)
    changes = "".join(f"M1 {each.y:.0f}v{max(each.height, LEAST_MARK):.0f}" for each in drawn if each.block.is_changed)
    return (
        f'<svg class="minimap" viewBox="0 0 30 {HEIGHT:.0f}" preserveAspectRatio="none" role="group" '
        f'aria-label="The whole chain, {count_text(len(blocks), "block")}" data-minimap>'
        f'{_paths(drawn)}{links}<path class="flags" d="{flags}"/><path class="changes" d="{changes}"/>'
        f'<path class="hit-ticks" d="" data-hit-ticks/>'
        f'<rect class="view" x="0.5" y="0" width="29" height="0" rx="2" data-frame/></svg>'
    )


def _place_blocks(blocks: Sequence[Block]) -> list[_Drawn]:
    starts = [block.section and not (place and blocks[place - 1].section == block.section) for place, block in enumerate(blocks)]
    heights = [LEAST + sqrt(block.size) for block in blocks]
    gaps = SECTION_GAP * sum(map(bool, starts[1:]))
    scale = (HEIGHT - gaps) / max(1.0, sum(heights))
    drawn: list[_Drawn] = []
    y = 0.0
    for block, height, begins in zip(blocks, heights, starts, strict=True):
        y += SECTION_GAP * bool(begins and drawn)
        drawn.append(_Drawn(block, y, max(1.0, height * scale - min(MOST_GAP, height * scale * GAP))))
        y += height * scale
    return drawn


def _paths(drawn: Sequence[_Drawn]) -> str:
    """Draw all blocks of one colour and shade as one path."""
    average = sum(each.block.size for each in drawn) / max(1, len(drawn))
    found: dict[tuple[str, int], list[str]] = {}
    for each in drawn:
        share = min(1.0, each.block.size / average / LARGE_SHARE) if average else 0.0
        if each.block.is_header:
            share = 1.0
        width = NARROW + (WIDE - NARROW) * share
        shapes = found.setdefault((each.block.role, round(2 * share)), [])
        shapes.append(f"M{LEFT} {each.y:.0f}h{width:.0f}v{each.height:.0f}H{LEFT}")
    return "".join(f'<path data-role="{role}" data-shade="{shade}" d="{"".join(shapes)}"/>' for (role, shade), shapes in found.items())


def _link(group: Sequence[_Drawn], base_url: str) -> str:
    first, last = group[0], group[-1]
    return (
        f'<a href="{safe(base_url)}rows?near={first.block.start}" aria-label="{_words(joined([each.block for each in group]))}">'
        f'<rect y="{first.y:.0f}" width="30" height="{last.y + last.height - first.y:.0f}"/></a>'
    )


def joined(blocks: Sequence[Block]) -> Block:
    """Join neighbours into one block, with the colour of the role that has the most bytes."""
    if len(blocks) == 1:
        return blocks[0]
    sizes: dict[str, int] = {}
    for block in blocks:
        sizes[block.role] = sizes.get(block.role, 0) + block.size
    first = blocks[0]
    return Block(
        first.start,
        sum(block.messages for block in blocks),
        sum(block.size for block in blocks),
        max(sizes, key=lambda role: sizes[role]),
        sum(block.problems for block in blocks),
        first.section if blocks[-1].section == first.section else 0,
        all(block.is_header for block in blocks),
        any(block.is_changed for block in blocks),
    )


def _words(block: Block) -> str:
    messages = count_text(block.messages, "message")
    name = NAMES.get(block.role, "") if block.is_header and block.messages == 1 else ""
    what = name or f"{messages} from {block.start:,}"
    said = f"Section {block.section}: {what}" if block.section else what[0].upper() + what[1:]
    problems = f", {count_text(block.problems, 'problem')}" if block.problems else ""
    return f"{said}, {byte_text(block.size)}{problems}{', changed' if block.is_changed else ''}"
