"""A compactor with the settings of a run: what `next_state`, the operation and the simulation call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from chainviz.core.chain.chain import Splice
from chainviz.core.chain.messages import HUMAN, SYSTEM
from chainviz.core.operations.compact.compactors.contract import Boundary, Compactor, Settings, Trial, amount
from chainviz.core.state.compaction_request import CompactionRequest

EVERYTHING_REMOVED = "Everything is removed: the next call would start a new conversation."


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a strategy did to a request, and why."""

    request: CompactionRequest
    trial: Trial
    """Of the whole strategy; its parts are the trace."""

    @property
    def was_compacted(self) -> bool:
        return self.trial.was_compacted

    @property
    def splices(self) -> tuple[Splice, ...]:
        """In places of the stored messages."""
        change = self.trial.change
        return tuple(splice for splice in change.splices if splice.removed or splice.messages) if change else ()

    @property
    def boundary(self) -> Boundary | None:
        return self.trial.change.boundary if self.trial.change else None

    @property
    def removed(self) -> int:
        return sum(splice.removed for splice in self.splices)

    @property
    def removes_everything(self) -> bool:
        messages = self.request.messages
        return self.removed == len(messages) > 0 and not any(splice.messages for splice in self.splices)

    def warnings(self) -> Iterator[str]:
        """What a person should know before the change is kept."""
        yield from self.trial.change.warnings if self.trial.change else ()
        if self.removes_everything:
            yield EVERYTHING_REMOVED
            return
        gone = self.removed if self.boundary is not None else 0
        removed = [self.request.messages[place] for place in range(gone)]
        systems = sum(message.role == SYSTEM for message in removed)
        if systems:
            last = " The last one is directly before the cut: only human messages are boundaries."
            yield f"Removed: {amount(systems, 'stored system message')}.{last if removed[-1].role == SYSTEM else ''}"
        if any(message.role == HUMAN for message in removed):
            yield "The first request is removed: the next call does not see what it asked for."


@dataclass(frozen=True, slots=True)
class Strategy:
    """Called with a request; CompactionFailed where a compactor fails."""

    root: Compactor
    settings: Settings = field(default_factory=Settings)

    def __call__(self, request: CompactionRequest) -> Compacted:
        return Compacted(request, self.root.compact(request, self.settings))
