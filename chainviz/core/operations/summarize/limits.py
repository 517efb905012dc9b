"""How many pairs and sections are kept within the limits (sizes in bytes), and the reasons for folding as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.counts import count_text
from chainviz.core.operations.summarize.options import SummarizeOptions

QA_RESERVE = 1_000
"""Bytes of the QA limit that are reserved for the summary section."""


def threshold(limit: int, reserve_percent: int) -> int:
    """Return how much of the limit a rotated section may fill, so that there is room for the next messages."""
    return limit * (100 - reserve_percent) // 100


def pairs_to_keep(pairs: Sequence[int], header: int, limit: int, reserve_percent: int) -> int:
    """Return the number of last pairs of a section that stay: always the last one, then those that fit, without gaps."""
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
    """Return the number of last sections that stay: always `keep` of them, then older ones that fit, without gaps."""
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


# Each reason names a measured value and its limit.


Reason = tuple[str, int, int]
"""Why a piece is folded: a sentence, the measured value, and its limit."""

ONE_SUMMARY = "It is already one summary."
NO_BODY = "It has only a header."
LAST_PAIR = "The last pair of a kept section is never folded: providers check its signatures."
TOO_SMALL = "It is so small that a summary would save nothing."
NO_TOOLS = "It calls no tool."
AS_IT_IS = "Keeping the last sections small is turned off."
ONLY_TOGETHER = "Old sections are only joined together, and the summary of another part cannot be used."
SMALL_ENOUGH = "Its section is within the limit."


def old_section(keep: int) -> str:
    return f"It is older than the last {keep:,} sections." if keep != 1 else "It is older than the last section."


def tool_exchanges(count: int) -> Reason:
    return (f"{count_text(count, 'exchange')} with tools.", count, 0)


def large_pair(size: int, limit: int) -> str:
    return f"The pair has {size:,} bytes; the limit for one is {limit:,}."


def large_section(size: int, limit: int) -> str:
    return f"Its section has {size:,} bytes; the limit is {limit:,}."


def fits(options: SummarizeOptions) -> str:
    room = threshold(options.last_sec_bytes, options.reserve_percent)
    return f"With everything after it, it fits into {room:,} bytes: the limit less a reserve of {options.reserve_percent}%."


def too_many_sections(sizes: Sequence[int], options: SummarizeOptions) -> Reason:
    count, size = len(sizes), sum(sizes)
    if count > options.max_qa_sections:
        return (f"There are {count:,} sections; the limit is {options.max_qa_sections:,}.", count, options.max_qa_sections)
    return f"The sections have {size:,} bytes; the limit is {options.max_qa_bytes:,}.", size, options.max_qa_bytes
