"""Two chains compared, as a value that prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from chainviz.api.chain import Chain
from chainviz.core.diff import ChainDiff, Group, diff_chains
from chainviz.core.diff.text import render


@dataclass(frozen=True)
class Comparison:
    chains: ChainDiff = field(repr=False)
    """Everything that chainviz.core.diff found, unchanged nodes included."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many nodes were added, removed, changed, moved and so on."""
        return {str(kind): count for kind, count in self.chains.counts.items()}

    @property
    def changes(self) -> tuple[Group, ...]:
        """The changed nodes, each with its paths in both chains."""
        return self.chains.changes

    def __str__(self) -> str:
        return "\n".join(render(self.chains))


def diff(before: Chain, after: Chain) -> Comparison:
    """Returns what changed from one chain to another."""
    return Comparison(diff_chains(before.core, after.core))
