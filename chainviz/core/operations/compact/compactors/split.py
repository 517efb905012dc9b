"""When and how apart (seed 3, Custom Compaction)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from chainviz.core.operations.compact.compactors.composite_trigger import CompositeTrigger
from chainviz.core.operations.compact.compactors.contract import Compactor, Settings, Titled, Trial, Trigger
from chainviz.core.operations.compact.compactors.message_limit import MessageLimit
from chainviz.core.operations.compact.compactors.triggers import CountAtLeast
from chainviz.core.state.compaction_request import CompactionRequest


@dataclass(frozen=True, slots=True)
class Split(Compactor):
    """The strategy runs where the trigger is true. The seed uses it as a compactor; in the reference it is not one."""

    type = "split"
    label = "Split"
    hint = "The strategy runs only when the trigger is true."

    trigger: Annotated[Trigger, Titled("When")]
    strategy: Annotated[Compactor, Titled("Then")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        trigger = self.trigger.should_compact(request, settings)
        return self._answer(trigger.is_triggered, trigger.reason, (("trigger", trigger),))

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        strategy = self.strategy.reduce(request, settings)
        return replace(strategy, type=self.type, parts=(("strategy", strategy),))

    def compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        asked = self.should_compact(request, settings)
        if not asked.is_triggered:
            not_run = Trial(self.strategy.type, "not_run", "Not run: the trigger is not true.")
            return replace(asked, parts=(*asked.parts, ("strategy", not_run)))
        reduced = self.reduce(request, settings)
        return replace(reduced, reason=f"{asked.reason} {reduced.reason}", parts=(*asked.parts, *reduced.parts))

    def cautions(self) -> Iterator[str]:
        yield from self.trigger.cautions()
        yield from self.strategy.cautions()
        limit = self.strategy.max_messages if isinstance(self.strategy, MessageLimit) else 0
        triggers = self.trigger.triggers if isinstance(self.trigger, CompositeTrigger) else (self.trigger,)
        fires = min((each.n for each in triggers if isinstance(each, CountAtLeast)), default=limit + 1)
        if 0 < fires <= limit:
            yield (
                f"The split removes nothing from {fires:,} to {limit:,} messages: its trigger fires at {fires:,}, "
                f"its strategy acts above {limit:,}."
            )
