"""A comparison of two chains, as a value that prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from chainviz.api.chain import Chain
from chainviz.core.chain.messages import Part, ToolResult
from chainviz.core.diff import ChainDiff, FirstDifference, Group, diff_chains
from chainviz.core.diff.runs import RunFacts, are_runs, diff_runs, outcome_of
from chainviz.core.diff.text import render_with_facts
from chainviz.core.errors import visible_lines
from chainviz.core.formats.vendors import PROVIDERS


@dataclass(frozen=True)
class Comparison:
    chains: ChainDiff = field(repr=False)
    """Everything that chainviz.core.diff found, unchanged nodes included."""
    facts: tuple[RunFacts, RunFacts]
    """Sizes, problems, recorded tokens, tools and outcome of both."""
    are_runs: bool
    """True if the chains are two runs, which are aligned by their calls and texts; else they are two states of one chain, aligned by call
    ids."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of added, removed, changed, moved and other nodes."""
        return {str(kind): count for kind, count in self.chains.counts.items()}

    @property
    def changes(self) -> tuple[Group, ...]:
        """The changed nodes, each with its paths in both chains."""
        return tuple(self.chains.changes)

    @property
    def first(self) -> FirstDifference | None:
        """The first difference, a node of each side, or None if the two are equal."""
        return self.chains.first

    def __str__(self) -> str:
        return visible_lines(render_with_facts(self.chains, *self.facts))


def diff(before: Chain, after: Chain) -> Comparison:
    """Returns what changed from one chain to another, or how two runs of one task differ."""
    runs = are_runs(before.core, after.core)
    found = diff_runs(before.core, after.core) if runs else diff_chains(before.core, after.core)
    return Comparison(found, (facts_of(before), facts_of(after)), runs)


def facts_of(chain: Chain) -> RunFacts:
    usage = chain.usage
    return RunFacts(
        messages=len(chain.messages),
        pairs=sum(len(section.body) for section in chain.tree.sections),
        size=chain.size,
        problems=sum(problem.is_counted for problem in chain.problems()),
        usage=usage.total if usage.is_recorded else None,
        model=usage.model,
        cost=chain.cost if usage.is_recorded else None,
        seconds=chain.times.seconds,
        tool_errors=sum(_is_error(part) for message in chain.messages for part in message.parts),
        verdicts={provider.label: chain.verdict(provider.name).text for provider in PROVIDERS},
        tools=Counter(call.name for message in chain.messages for call in message.calls),
        outcome=outcome_of(chain.core),
        recorded_outcome=chain.recorded_outcome,
    )


def _is_error(part: Part) -> bool:
    return isinstance(part, ToolResult) and part.is_error
