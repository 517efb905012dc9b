"""Where the bytes go, as SVG: sections over nodes over parts, and bars by tool. Small ones are drawn together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.chains.render.numbers import count_text, size_and_share
from chainviz.chains.render.visible_text import one_line, safe
from chainviz.web.formatting.byte_text import byte_text

WIDTH = 720.0
ROW = 30
LABEL = 34
"""A block narrower than this has no words in it."""
LONGEST_BAR = 300
"""Leaves room for its words behind it."""


@dataclass(frozen=True, slots=True)
class Slice:
    """A block of the icicle; its place is in bytes from the chain's beginning."""

    start: int
    size: int
    level: int
    """0 section, 1 node, 2 part."""
    role: str
    label: str
    title: str
    path: str = ""
    """Where it leads; "" for several drawn together."""


@dataclass(frozen=True, slots=True)
class ToolBar:
    name: str
    size: int
    calls: int
    results: int


def icicle_svg(slices: Sequence[Slice], whole: int, base_url: str) -> str:
    drawn = "".join(_slice(each, whole, base_url) for each in slices)
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH:.0f} {3 * ROW}" role="group" aria-label="Bytes by section, node and part">{drawn}</svg>'
    )


def _slice(each: Slice, whole: int, base_url: str) -> str:
    x, width = each.start / whole * WIDTH, max(0.6, each.size / whole * WIDTH)
    y = each.level * ROW
    hue = f' data-role="{each.role}"' if each.role else ' data-state="quiet"'
    words = f"{safe(one_line(each.title, 120))} · {size_and_share(each.size, whole)}"
    part = ' class="part"' if each.level == 2 else ""
    box = f'<title>{words}</title><rect{part} x="{x:.1f}" y="{y}" width="{width:.1f}" height="28" rx="{3 if not each.level else 2}"/>'
    if width > LABEL:
        letters = int((width - 10) / 6.2)
        box += f'<text x="{x + 6:.1f}" y="{y + 18}">{safe(one_line(each.label, letters))}</text>'
    if not each.path:
        return f"<g{hue}>{box}</g>"
    dom_id = each.path.replace(".", "-")
    return f'<a href="{safe(base_url)}at/{each.path}#{dom_id}" data-go="{each.path}"{hue} aria-label="{words}">{box}</a>'


def tools_svg(bars: Sequence[ToolBar]) -> str:
    if not bars:
        return ""
    most = max(bar.size for bar in bars) or 1
    rows = "".join(_bar(i, bar, most) for i, bar in enumerate(bars))
    return f'<svg class="chart" viewBox="0 0 {WIDTH:.0f} {22 * len(bars)}" role="img" aria-label="Bytes by tool name">{rows}</svg>'


def _bar(index: int, bar: ToolBar, most: int) -> str:
    y = 22 * index
    width = max(2.0, LONGEST_BAR * bar.size / most)
    words = f"{byte_text(bar.size)} · {count_text(bar.calls, 'call')}"
    if bar.results != bar.calls:
        words += f" · {count_text(bar.results, 'result')}"
    name = safe(one_line(bar.name, 24)) or "(no name)"
    return (
        f'<text class="axis" x="0" y="{y + 14}">{name}</text><g data-role="tool"><rect class="bar" x="164" y="{y + 3}" '
        f'width="{width:.0f}" height="14" rx="3"/></g><text class="axis" x="{164 + width + 6:.0f}" y="{y + 14}">{words}</text>'
    )
