"""Signed reasoning that stays behind a change: newer models of Anthropic bind it to everything before it, and refuse it once
that differs (claude-code issues 63203 and 63246; the thinking_block_binding parameter of its API)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chainviz.core.chain.chain import Chain, Splice

WARNING = (
    "Signed reasoning follows the change. Anthropic's newer models refuse it if anything before it changed; "
    "Repair with “Drop the signed reasoning” removes it."
)


def keeps_signed_reasoning(chain: Chain, changes: Sequence[Splice]) -> bool:
    """Whether a message behind the first change stays as it is and holds reasoning that its provider signed."""
    if not changes:
        return False
    ends = [(change.start, change.start + change.removed) for change in changes]
    for place in chain.signed(ends[0][1]):
        start, end = ends[bisect_right(ends, (place, len(chain))) - 1]
        if not start <= place < end:
            return True
    return False
