"""Changes of several chains in one document, as those of several answers to one request: written together where each
touches bytes of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable


def merged(original: bytes, one: bytes, other: bytes) -> bytes | None:
    """The document with both changes; None where they touch the same place and differ."""
    if other in (original, one):
        return one
    (start, end), (first, last) = sorted((_changed(original, one), _changed(original, other)))
    if first < end or (start, end) == (first, last):
        return None
    before, behind = (one, other) if _changed(original, one) == (start, end) else (other, one)
    return before[: len(before) - (len(original) - end)] + original[end:first] + behind[first:]


def _changed(original: bytes, changed: bytes) -> tuple[int, int]:
    """From where to where the original was replaced."""
    shorter = min(len(original), len(changed))
    start = _last_equal(shorter, lambda count: original[:count] == changed[:count])
    rest = _last_equal(shorter - start, lambda count: original[len(original) - count :] == changed[len(changed) - count :])
    return start, len(original) - rest


def _last_equal(most: int, is_equal: Callable[[int], bool]) -> int:
    """The largest count for which it holds, of those that follow one another from 0."""
    return bisect_left(range(1, most + 1), True, key=lambda count: not is_equal(count))
