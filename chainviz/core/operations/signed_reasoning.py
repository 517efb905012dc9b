"""Signed reasoning that stays behind a change: newer models of Anthropic bind it to everything before it, and refuse it once
that differs (claude-code issues 63203 and 63246; the thinking_block_binding parameter of its API)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Thinking

NEARBY = 16
"""Messages behind the first change that are looked at."""
WARNING = (
    "Signed reasoning follows what changes. Anthropic's newer models refuse it once anything before it differs; "
    "Convert with “Drop reasoning” removes it."
)


def keeps_signed_reasoning(chain: Chain, changes: Sequence[Splice]) -> bool:
    """Whether a message that stays as it is, near behind the first change, holds reasoning that its provider signed."""
    if not changes:
        return False
    first = changes[0].start + changes[0].removed
    ends = [(change.start, change.start + change.removed) for change in changes]
    for place, message in enumerate(chain.slice(first, min(len(chain), first + NEARBY)), first):
        start, end = ends[bisect_right(ends, (place, len(chain))) - 1]
        if not start <= place < end and any(
            isinstance(part, Thinking) and (part.signature or part.redacted) for part in message.parts
        ):
            return True
    return False
