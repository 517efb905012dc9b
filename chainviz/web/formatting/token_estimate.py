"""The one estimate of tokens: bytes through four. Always shown with ≈; never mixed up with sizes."""

from __future__ import annotations


def estimate_tokens(size: int) -> int:
    return (size + 3) // 4


def token_text(size: int) -> str:
    """How many tokens `size` bytes may be: ≈ 812, ≈ 96.2k, ≈ 1.4M."""
    tokens = estimate_tokens(size)
    if tokens < 1_000:
        return f"≈ {tokens}"
    amount, unit = (tokens / 1_000, "k") if tokens < 999_950 else (tokens / 1_000_000, "M")
    return f"≈ {amount:.1f}{unit}" if amount < 1_000 else f"≈ {amount:,.0f}{unit}"
