"""Sizes, shares and counts as a row or the inspector says them."""

from __future__ import annotations

from chainviz.web.formatting.byte_text import byte_text

BAR_STEPS = 20


def share_text(size: int, whole: int) -> str:
    if not whole:
        return "0%"
    percent = 100 * size / whole
    return f"{percent:.0f}%" if percent >= 1 or not size else "<1%"


def size_and_share(size: int, whole: int) -> str:
    return f"{byte_text(size)} · {share_text(size, whole)}"


def bar_step(size: int, whole: int) -> int:
    """Length of a share bar in twentieths; a node that has bytes never has an empty bar. The stylesheet knows the steps."""
    if not size or not whole:
        return 0
    return max(1, min(BAR_STEPS, round(BAR_STEPS * size / whole)))


def count_text(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
