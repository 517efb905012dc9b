"""Counts in sentences: the one place that knows when a noun is plural."""

from __future__ import annotations


def count_text(count: int, one: str, many: str = "") -> str:
    """Return such as `1 message` or `1,200 messages`. `many`: a plural that does not just add an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
