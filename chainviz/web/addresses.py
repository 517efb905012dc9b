"""Numbers in addresses. An odd one is as good as none: an address is not a form."""

from __future__ import annotations


def small_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
