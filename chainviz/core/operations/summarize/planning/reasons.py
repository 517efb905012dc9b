"""Why something is folded or stays, in words; each with what was measured and the limit it was held against."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.operations.summarize.options import SummarizeOptions
from chainviz.core.operations.summarize.planning.limits import threshold

Reason = tuple[str, int, int]
"""Why a piece is folded: the sentence, what was measured, and its limit."""

ONE_SUMMARY = "It is already one summary."
NO_BODY = "It has only a header."
LAST_PAIR = "The last pair of a kept section is never folded: providers check its signatures."
TOO_SMALL = "It is so small that a summary would save nothing."
AS_IT_IS = "Keeping the last sections small is turned off."
ONLY_TOGETHER = "Old sections are only joined together, and the summary of another part cannot be used."
SMALL_ENOUGH = "Its section is within the limit."


def old_section(keep: int) -> str:
    return f"It is older than the last {keep:,} sections." if keep != 1 else "It is older than the last section."


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
        return (
            f"There are {count:,} sections; the limit is {options.max_qa_sections:,}.",
            count,
            options.max_qa_sections,
        )
    return f"The sections have {size:,} bytes; the limit is {options.max_qa_bytes:,}.", size, options.max_qa_bytes
