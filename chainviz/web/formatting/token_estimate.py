"""Tokens as pages write them. An estimate is shown with ≈ and never mixed up with what a transcript records."""

from __future__ import annotations

from chainviz.core.usage.estimate import estimated_tokens


def token_text(size: int) -> str:
    """How many tokens `size` bytes may be: ≈ 812, ≈ 96.2k, ≈ 1.4M."""
    return f"≈ {tokens_text(estimated_tokens(size))}"


def tokens_text(tokens: int) -> str:
    """812, 96.2k, 1.4M."""
    if tokens < 1_000:
        return str(tokens)
    amount, unit = (tokens / 1_000, "k") if tokens < 999_950 else (tokens / 1_000_000, "M")
    return f"{amount:.1f}{unit}" if amount < 1_000 else f"{amount:,.0f}{unit}"


def round_tokens_text(tokens: int) -> str:
    """The same where a figure is often round: 200k, 1M."""
    return tokens_text(tokens).replace(".0", "")
