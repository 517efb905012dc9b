"""What each way of converting is given, and what it says: messages that change, and messages that stay."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.observations.reader import Recognition
from chainviz.core.observations.round_trip import Loss
from chainviz.core.operations.contract import Context
from chainviz.core.operations.observations.options import ObservationsOptions


@dataclass(frozen=True, slots=True)
class Task:
    chain: Chain
    options: ObservationsOptions
    recognition: Recognition
    context: Context


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Neighbouring messages that change."""

    splice: Splice
    what: str
    """In words: `brackets to XML`."""
    results: int
    survived: int
    """Results that read back with the same name, order and bytes."""
    size_before: int
    """Bytes of the messages."""
    losses: tuple[Loss, ...] = ()
    ids: int = 0
    """Call ids that are lost, or made up."""

    @property
    def size_after(self) -> int:
        return sum(message.size for message in self.splice.messages)


@dataclass(frozen=True, slots=True)
class Kept:
    """A message that could not be converted, and why."""

    message: int
    reason: str
