"""Triggers on one number of the state, the two constant ones, and triggers joined by OR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from chainviz.core.counts import count_text
from chainviz.core.operations.compact.contract import Settings, Titled, Trial, Trigger, any_triggered
from chainviz.core.state.call import CompactionRequest


@dataclass(frozen=True, slots=True)
class CountAtLeast(Trigger):
    type = "count_at_least"
    label = "At least n messages"
    hint = "True with this many stored messages or more."

    n: Annotated[int, Titled("At least", "messages")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        count = len(request.messages)
        return self._answer(count >= self.n, f"{count_text(count, 'message')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class TurnsAtLeast(Trigger):
    """Turns that are complete: AI messages without calls."""

    type = "turns_at_least"
    label = "At least n turns"
    hint = "True with this many complete turns or more. A turn ends at an answer without calls."

    n: Annotated[int, Titled("At least", "turns")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        turns = request.messages.turns
        return self._answer(turns >= self.n, f"{count_text(turns, 'turn')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class BytesAtLeast(Trigger):
    """Content bytes of the stored messages."""

    type = "bytes_at_least"
    label = "At least n bytes"
    hint = "True with this many content bytes or more."

    n: Annotated[int, Titled("At least", "bytes")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        size = request.messages.size
        return self._answer(size >= self.n, f"{count_text(size, 'byte')}, at least {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class TokensOver(Trigger):
    """Prompt tokens of the last call; unknown ones are over nothing."""

    type = "tokens_over"
    label = "More than n tokens"
    hint = "True when the last call had more prompt tokens."

    n: Annotated[int, Titled("More than", "tokens")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        usage = request.usage
        if usage is None:
            return self._answer(False, "The prompt tokens of the last call are unknown.")
        return self._answer(usage.prompt_tokens > self.n, f"{usage}, more than {self.n:,} needed.")


@dataclass(frozen=True, slots=True)
class Always(Trigger):
    type = "always"
    label = "Always"
    hint = "True after every call."

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(True, "It always triggers.")


@dataclass(frozen=True, slots=True)
class Never(Trigger):
    type = "never"
    label = "Never"
    hint = "Never true."

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(False, "It never triggers.")


@dataclass(frozen=True, slots=True)
class CompositeTrigger(Trigger):
    """Checked in order until one is true. Never true without a trigger."""

    type = "composite_trigger"
    label = "Any of"
    hint = "Checked in order until one is true. Never true without a trigger."

    triggers: Annotated[tuple[Trigger, ...], Titled("Trigger")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(*any_triggered(self.triggers, "triggers", request, settings))

    def cautions(self) -> Iterator[str]:
        if not self.triggers:
            yield "A trigger without other triggers never fires."
        for trigger in self.triggers:
            yield from trigger.cautions()
