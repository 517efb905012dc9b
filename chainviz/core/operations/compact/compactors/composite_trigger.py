"""Triggers joined by OR (seed 3, Custom Compaction)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from chainviz.core.operations.compact.compactors.contract import Settings, Titled, Trial, Trigger, any_triggered
from chainviz.core.state.compaction_request import CompactionRequest


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
