"""Triggers on one number of the state, and the two constant ones."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.operations.compact.compactors.contract import Settings, Trial, Trigger, amount
from chainviz.core.state.compaction_request import CompactionRequest


@dataclass(frozen=True, slots=True)
class CountAtLeast(Trigger):
    type = "count_at_least"
    label = "At least n messages"

    n: int

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        count = len(request.messages)
        return self._answer(count >= self.n, f"{amount(count, 'message')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class TurnsAtLeast(Trigger):
    """Turns that are complete: AI messages without calls."""

    type = "turns_at_least"
    label = "At least n turns"

    n: int

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        turns = request.messages.turns
        return self._answer(turns >= self.n, f"{amount(turns, 'turn')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class BytesAtLeast(Trigger):
    """Content bytes of the stored messages."""

    type = "bytes_at_least"
    label = "At least n bytes"

    n: int

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        size = request.messages.size
        return self._answer(size >= self.n, f"{amount(size, 'byte')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class TokensOver(Trigger):
    """Prompt tokens of the last call; unknown ones are over nothing."""

    type = "tokens_over"
    label = "More than n tokens"

    n: int

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        usage = request.usage
        if usage is None:
            return self._answer(False, "The prompt tokens of the last call are unknown.")
        return self._answer(usage.prompt_tokens > self.n, f"{usage}, more than {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class Always(Trigger):
    type = "always"
    label = "Always"

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(True, "It always triggers.")


@dataclass(frozen=True, slots=True)
class Never(Trigger):
    type = "never"
    label = "Never"

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(False, "It never triggers.")
