"""Which answers of a server are worth another attempt, and after how long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def is_passing(status: int) -> bool:
    """Whether the same request may be taken a little later."""
    return status in {408, 429} or status >= 500


def seconds_to_wait(headers: Mapping[str, str], first_pause: float, attempt: int) -> float:
    """As long as the server asks; else the first pause, doubled at each attempt."""
    wanted = retry_after(headers)
    return first_pause * 2 ** (attempt - 1) if wanted is None else wanted


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds the server asks to wait, in any of the three spellings in use; None where it asks nothing."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0)
