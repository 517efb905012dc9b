"""The arithmetic of seed 1: how many pairs and sections stay whole. Knows numbers only, sizes in bytes."""

from __future__ import annotations

from collections.abc import Sequence

QA_RESERVE = 1_000
"""Bytes of the QA limit that are left for the summary section."""


def threshold(limit: int, reserve_percent: int) -> int:
    """What a rotated section may fill, so that there is room for what comes next."""
    return limit * (100 - reserve_percent) // 100


def pairs_to_keep(pairs: Sequence[int], header: int, limit: int, reserve_percent: int) -> int:
    """How many of the last pairs of a section stay: always the last one, then those that fit, without gaps."""
    if not pairs:
        return 0
    room = threshold(limit, reserve_percent)
    kept, filled = 1, header + pairs[-1]
    for size in reversed(pairs[:-1]):
        if filled + size > room:
            break
        filled += size
        kept += 1
    return len(pairs) if filled + sum(pairs[:-kept]) <= limit else kept


def exceeds_qa_limits(sections: Sequence[int], most_sections: int, most_bytes: int) -> bool:
    return len(sections) > most_sections or sum(sections) > most_bytes


def sections_to_keep(sections: Sequence[int], most_sections: int, most_bytes: int, keep: int) -> int:
    """How many of the last sections stay: always `keep` of them, then older ones that fit, without gaps."""
    kept = min(keep, len(sections))
    filled = sum(sections[len(sections) - kept :])
    room = most_bytes - QA_RESERVE
    if filled > room:
        return kept
    for size in reversed(sections[: len(sections) - kept]):
        if kept >= most_sections or filled + size > room:
            break
        filled += size
        kept += 1
    return kept
