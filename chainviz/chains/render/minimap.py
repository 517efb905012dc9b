"""The minimap: at most 160 blocks, each a link, as one SVG. Height of a block: a little, plus the root of its bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from chainviz.chains.render.numbers import count_text
from chainviz.chains.render.visible_text import safe
from chainviz.web.formatting.byte_text import byte_text

LEAST = 4.0
HEIGHT = 800.0


@dataclass(frozen=True, slots=True)
class Block:
    """Some neighbouring rows."""

    start: int
    """Their first message."""
    messages: int
    size: int
    role: str
    problems: int
    starts_section: bool = False


def minimap_svg(blocks: Sequence[Block], base_url: str) -> str:
    heights = [LEAST + sqrt(block.size) + 5 * block.starts_section for block in blocks]
    scale = HEIGHT / max(1.0, sum(heights))
    links: list[str] = []
    flags: list[str] = []
    y = 0.0
    for block, height in zip(blocks, heights, strict=True):
        top = y + (5 * scale if block.starts_section else 0)
        y += height * scale
        drawn = max(0.5, y - top - min(1.0, height * scale / 4))
        links.append(
            f'<a href="{safe(base_url)}rows?near={block.start}" data-at="{block.start}" data-role="{block.role}" '
            f'aria-label="{_words(block)}"><rect x="2" y="{top:.1f}" width="20" height="{drawn:.1f}" rx="1.5"/></a>'
        )
        if block.problems:
            flags.append(f"M26 {top:.1f}v{max(drawn, 3):.1f}")
    return (
        f'<svg class="minimap" viewBox="0 0 30 {HEIGHT:.0f}" preserveAspectRatio="none" role="group" '
        f'aria-label="The whole chain" data-minimap>'
        f'{"".join(links)}<path class="flags" d="{"".join(flags)}"/><path class="hit-ticks" d="" data-hit-ticks/>'
        f'<rect class="view" x="0.5" y="0" width="29" height="0" rx="2" data-frame/></svg>'
    )


def _words(block: Block) -> str:
    said = f"From message {block.start + 1}: {count_text(block.messages, 'message')}, {byte_text(block.size)}"
    return f"{said}, {count_text(block.problems, 'problem')}" if block.problems else said
