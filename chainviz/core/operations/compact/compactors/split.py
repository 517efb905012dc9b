"""When and how apart (seed 3, Custom Compaction)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from chainviz.core.operations.compact.compactors.contract import Compactor, Settings, Trial, Trigger
from chainviz.core.state.compaction_request import CompactionRequest


@dataclass(frozen=True, slots=True)
class Split(Compactor):
    """The strategy runs where the trigger is true. The seed uses it as a compactor; in the reference it is not one."""

    type = "split"
    label = "Split"

    trigger: Trigger
    strategy: Compactor

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
