"""Keeps the last messages (seed 3, MessageLimitCompactor)."""

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
    Settings,
    Titled,
    Trial,
    amount,
)
from chainviz.core.state.compaction_request import CompactionRequest


@dataclass(frozen=True, slots=True)
class MessageLimit(Compactor):
    """Triggers above `max_messages`; 0 or less is off."""

    type = "message_limit"
    label = "Message limit"
    hint = "Keeps the last messages, starting with a human message."

    max_messages: Annotated[int, Titled("Keep the last", "messages")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        count = len(request.messages)
        if self.max_messages <= 0:
            return self._answer(False, f"A limit of {self.max_messages} is off.")
        return self._answer(count > self.max_messages, f"{amount(count, 'message')}, limit {self.max_messages:,}.")

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        """Never fewer than the boundary rule gives: the result may be shorter or, with keep_last_turn, longer."""
        count = len(request.messages)
        asked = self.should_compact(request, settings)
        if not asked.is_triggered and not settings.reference:
            return self._unchanged(asked.reason)
        if count < self.max_messages:
            raise Panic(f"slice bounds out of range [{count - self.max_messages}:]")
        found = boundary(request.messages, count - self.max_messages, settings.if_no_user_boundary)
        if not found.cut and not settings.reference:
            return self._unchanged(found.text)
        kept = f"Messages kept: {count - found.cut:,} of {count:,}."
        return self._changed(Change((Splice(0, found.cut),), found), f"{found.text} {kept}")

    def cautions(self) -> Iterator[str]:
        if self.max_messages <= 0:
            yield f"A message limit of {self.max_messages} is off."
