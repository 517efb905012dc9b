"""Tokens as pages write them. An estimate is shown with ≈ and never mixed up with what a transcript records."""

from __future__ import annotations

from chainviz.core.usage.estimate import estimated_tokens


def token_text(size: int) -> str:
    """How many tokens `size` bytes may be: ≈ 812, ≈ 96.2k, ≈ 1.4M."""
    return f"≈ {tokens_text(estimated_tokens(size))}"


def tokens_text(tokens: int) -> str:
    """812, 96.2k, 1.4M, 4.8B."""
    if tokens < 1_000:
        return str(tokens)
    for unit, size in (("k", 1_000), ("M", 1_000_000)):
        if tokens < 999.95 * size:
            return f"{tokens / size:.1f}{unit}"
    return f"{tokens / 1_000_000_000:,.1f}B"


def round_tokens_text(tokens: int) -> str:
    """The same where a figure is often round: 200k, 1M."""
    return tokens_text(tokens).replace(".0", "")
