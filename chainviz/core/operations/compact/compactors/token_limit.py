"""Removes messages from the front when the last call was too large (seed 3, TokenLimitCompactor)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from chainviz.core.chain.chain import Splice
from chainviz.core.operations.compact.compactors.boundary import boundary
from chainviz.core.operations.compact.compactors.contract import (
    Change,
    Compactor,
    Panic,
    Reduction,
    Settings,
    Titled,
    Trial,
)
from chainviz.core.state.compaction_request import CompactionRequest
from chainviz.core.state.usage import Usage

FEWEST = 2
"""Messages that are never removed."""
UNKNOWN = "The prompt tokens of the last call are unknown; a token limit does nothing without them."


@dataclass(frozen=True, slots=True)
class TokenLimit(Compactor):
    """Triggers above `max_tokens`; 0 or less is off. A target of 0 is 75% of the limit.

    The seed says "compact down to"; the reference removes one third, however far over.
    """

    type = "token_limit"
    label = "Token limit"
    hint = "Removes messages from the front when the last call had too many prompt tokens."

    max_tokens: Annotated[int, Titled("Compact above", "tokens")]
    target_tokens: Annotated[int, Titled("Down to", "tokens")] = 0
    reduction: Annotated[Reduction | None, Titled("Reduction")] = None
    """None: as the settings of the run say."""

    @property
    def target(self) -> int:
        return self.target_tokens if self.target_tokens > 0 else self.max_tokens * 3 // 4

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        if self.max_tokens <= 0:
            return self._answer(False, f"A limit of {self.max_tokens} is off.")
        usage = request.usage
        if usage is None:
            return self._answer(False, UNKNOWN)
        return self._answer(usage.prompt_tokens > self.max_tokens, f"{usage}, limit {self.max_tokens:,}.")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        usage = request.usage
        if usage is None:
            if settings.reference:
                raise Panic("invalid memory address or nil pointer dereference")
            return self._unchanged(UNKNOWN)
        if self.max_tokens <= 0 and not settings.reference:
            return self._unchanged(f"A limit of {self.max_tokens} is off.")
        if usage.prompt_tokens <= self.target:
            return self._unchanged(f"{usage}, already within the target of {self.target:,}.")
        count = len(request.messages)
        if count <= FEWEST:
            return self._unchanged(f"{FEWEST} messages or fewer are never removed.")
        wanted, how = self._wanted(request, usage, settings)
        found = boundary(request.messages, wanted, settings.if_no_user_boundary)
        if not found.cut:
            return self._unchanged(f"{how} {found.text}")
        left = self._estimate(request, usage, found.cut)
        reason = f"{how} {found.text} The next request is estimated at {left:,} tokens."
        return self._changed(Change((Splice(0, found.cut),), found), reason)

    def _wanted(self, request: CompactionRequest, usage: Usage, settings: Settings) -> tuple[int, str]:
        """How many messages the limit alone would remove, and why."""
        count = len(request.messages)
        if (self.reduction or settings.reduction) == "one_third":
            third = max(1, count // 3)
            return third, f"One third of {count:,} messages is {third:,}."
        # each byte that was sent counts for its share of the prompt tokens
        surplus = -(-(usage.prompt_tokens - self.target) * usage.sent // usage.prompt_tokens)
        wanted = min(max(1, request.messages.first_over(surplus)), count - FEWEST)
        estimate = self._estimate(request, usage, wanted)
        how = "within" if estimate <= self.target else "still over"
        return (
            wanted,
            f"After message {wanted:,} the estimate is {estimate:,} tokens, {how} the target of {self.target:,}.",
        )

    def _estimate(self, request: CompactionRequest, usage: Usage, removed: int) -> int:
        """The prompt tokens without the first `removed` messages, rounded up."""
        gone = min(request.messages.size_before(removed), usage.sent)
        return usage.prompt_tokens - usage.prompt_tokens * gone // usage.sent if usage.sent else usage.prompt_tokens

    def cautions(self) -> Iterator[str]:
        if self.max_tokens <= 0:
            yield f"A token limit of {self.max_tokens} is off."
        elif self.target >= self.max_tokens:
            yield f"The target of {self.target:,} is not below the limit of {self.max_tokens:,}: little or nothing is removed."
