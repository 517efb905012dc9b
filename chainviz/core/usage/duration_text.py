"""How long something took: 0.4 s, 12 s, 38 min, 6 h 42 min, 3 days 4 h."""

from __future__ import annotations

MINUTE, HOUR, DAY = 60, 3_600, 86_400


def duration_text(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    if whole < DAY:
        return _two(whole // HOUR, "h", whole % HOUR // MINUTE, "min")
    days = whole // DAY
    return _two(days, "day" if days == 1 else "days", whole % DAY // HOUR, "h")


def _two(large: int, unit: str, small: int, smaller: str) -> str:
    return f"{large:,} {unit} {small} {smaller}" if small else f"{large:,} {unit}"
