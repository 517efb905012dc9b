"""What a compactor is given after a call, and what it gives back. The seam between a call and operations/compact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from chainviz.core.chain.chain import Chain, Splice
from chainviz.core.chain.messages import Shape
from chainviz.core.errors import Refused
from chainviz.core.state.message_index import Window
from chainviz.core.state.usage import Usage


@dataclass(frozen=True, slots=True)
class CompactionRequest:
    """Seed 3, Compaction Interface."""

    messages: Window
    """The stored messages; leading system messages are not among them."""
    leading: Sequence[Shape] = ()
    """The leading system messages of the call: for information, never compacted."""
    usage: Usage | None = None
    """Of the last call; None where it is unknown."""
    provider: str = ""
    processed_length: int = 0
    chain: Chain | None = None
    """The stored messages with their bodies, for strategies that rewrite them; None where there are only sizes."""


class Compaction(Protocol):
    @property
    def was_compacted(self) -> bool: ...

    @property
    def splices(self) -> tuple[Splice, ...]:
        """What changes, in places of the stored messages."""


CompactionRun = Callable[[CompactionRequest], Compaction]
"""Raises CompactionFailed where it cannot be done."""


class CompactionFailed(Refused):
    """A compactor that failed: the call that asked for it gives no new state."""
