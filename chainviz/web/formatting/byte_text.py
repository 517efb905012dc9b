"""Sizes as people read them: 801 B, 2.2 KB, 385 KB, 6.24 MB. Decimal units, three digits at most."""

from __future__ import annotations

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
