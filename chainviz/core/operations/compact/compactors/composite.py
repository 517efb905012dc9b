"""Compactors in order (seed 3, Composite Compaction Strategies)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated

from chainviz.core.operations.compact.compactors.contract import (
    Compactor,
    Settings,
    Titled,
    Trial,
    Verdict,
    any_triggered,
)
from chainviz.core.state.compaction_request import CompactionRequest


@dataclass(frozen=True, slots=True)
class Composite(Compactor):
    """The first compactor that changes something ends the run; one that triggers without effect falls through."""

    type = "composite"
    label = "Composite"
    hint = "Tried in order; the first compactor that changes something ends the run."

    compactors: Annotated[tuple[Compactor, ...], Titled("Compactor")]

    def should_compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._answer(*any_triggered(self.compactors, "compactors", request, settings))

    def compact(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._first(lambda compactor: compactor.compact(request, settings))

    def reduce(self, request: CompactionRequest, settings: Settings) -> Trial:
        return self._first(lambda compactor: compactor.reduce(request, settings))

    def _first(self, run: Callable[[Compactor], Trial]) -> Trial:
        parts: list[tuple[str, Trial]] = []
        done: tuple[str, Trial] | None = None
        for number, compactor in enumerate(self.compactors):
            place = f"compactors[{number}]"
            if done is not None:
                parts.append((place, Trial(compactor.type, "not_run", f"Not run: {done[0]} changed the state.")))
                continue
            part = run(compactor)
            parts.append((place, part))
            done = (place, part) if part.was_compacted else None
        if done is None:
            is_idle = bool(parts) and not any(part.is_triggered for _, part in parts)
            verdict: Verdict = "not_triggered" if is_idle else "no_change"
            return Trial(self.type, verdict, "No compactor changes anything.", tuple(parts))
        place, part = done
        return replace(part, type=self.type, reason=f"{place} changed the state.", parts=tuple(parts))

    def cautions(self) -> Iterator[str]:
        if not self.compactors:
            yield "A composite without compactors never changes anything."
        for compactor in self.compactors:
            yield from compactor.cautions()
