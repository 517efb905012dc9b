"""Sizes, tokens, shares and counts as people read them."""

from __future__ import annotations

from chainviz.core.usage.estimate import estimated_tokens

UNITS = ("KB", "MB", "GB", "TB")


def byte_text(size: int) -> str:
    sign, size = ("−", -size) if size < 0 else ("", size)
    if size < 1000:
        return f"{sign}{size} B"
    amount = size / 1000
    for unit in UNITS:
        text = _digits(amount, most_decimals=1 if unit == "KB" else 2)
        if float(text) < 1000 or unit == UNITS[-1]:
            return f"{sign}{text} {unit}"
        amount /= 1000
    raise AssertionError("the last unit has no limit")


def _digits(amount: float, most_decimals: int) -> str:
    """99.96 would become 100.0: count the digits after rounding."""
    for decimals in range(most_decimals, 0, -1):
        text = f"{amount:.{decimals}f}"
        if len(text) <= 4:
            return text
    return f"{amount:.0f}"


def token_text(size: int) -> str:
    """Return the estimated number of tokens of `size` bytes: ≈ 812, ≈ 96.2k, ≈ 1.4M."""
    return f"≈ {tokens_text(estimated_tokens(size))}"


def tokens_text(tokens: int) -> str:
    """Return a number of tokens as text: 812, 96.2k, 1.4M, 4.8B."""
    if tokens < 1_000:
        return str(tokens)
    for unit, size in (("k", 1_000), ("M", 1_000_000)):
        if tokens < 999.95 * size:
            return f"{tokens / size:.1f}{unit}"
    return f"{tokens / 1_000_000_000:,.1f}B"


def round_tokens_text(tokens: int) -> str:
    """Format a number of tokens that is often round: 200k, 1M."""
    return tokens_text(tokens).replace(".0", "")


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


def hours_text(milliseconds: int) -> str:
    """Format the time of many sessions: 4.2 h, 1,153 h."""
    hours = milliseconds / 3_600_000
    return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h"
