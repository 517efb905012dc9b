"""What a conversion would change, what it would leave as it is and what would be lost. Changes nothing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import get_args

from chainviz.core.chain.chain import Chain
from chainviz.core.observations.reader import Recognition, called_tools
from chainviz.core.observations.round_trip import Loss
from chainviz.core.operations.contract import Context
from chainviz.core.operations.observations import reformat, to_text, to_tools
from chainviz.core.operations.observations.contract import Kept, Rewrite, Task
from chainviz.core.operations.observations.options import ConventionName, ObservationsOptions

WAYS = {"keep": reformat.rewrites, "to_text": to_text.rewrites, "to_tools": to_tools.rewrites}


@dataclass(frozen=True, slots=True)
class Plan:
    rewrites: tuple[Rewrite, ...]
    kept: tuple[Kept, ...]

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(loss for rewrite in self.rewrites for loss in rewrite.losses)

    @property
    def results(self) -> int:
        """Results that would be rewritten."""
        return sum(rewrite.results for rewrite in self.rewrites)

    @property
    def survived(self) -> int:
        """Of these, the ones that read back with the same name, order and bytes."""
        return sum(rewrite.survived for rewrite in self.rewrites)

    @property
    def ids(self) -> int:
        """Call ids that are lost (to_text) or made up (to_tools)."""
        return sum(rewrite.ids for rewrite in self.rewrites)


def plan_conversion(
    chain: Chain, options: ObservationsOptions, context: Context, tools: Collection[str] | None = None
) -> Plan:
    """`tools`: names that results may have, where they are known; else they are read from the chain."""
    found = list(WAYS[options.roles](_task(chain, options, context, tools)))
    return Plan(
        tuple(each for each in found if isinstance(each, Rewrite)),
        tuple(each for each in found if isinstance(each, Kept)),
    )


def plan_conventions(
    chain: Chain, options: ObservationsOptions, context: Context, tools: Collection[str]
) -> dict[str, Plan]:
    """A plan for every convention, with the other options as they are; message roles stay. Reads the chain once."""
    found: dict[ConventionName, list[Rewrite]] = {convention: [] for convention in get_args(ConventionName)}
    for convention, rewrite in reformat.rewrites_to(_task(chain, options, context, tools), tuple(found)):
        found[convention].append(rewrite)
    return {convention: Plan(tuple(rewrites), ()) for convention, rewrites in found.items()}


def _task(chain: Chain, options: ObservationsOptions, context: Context, tools: Collection[str] | None) -> Task:
    if tools is None:
        tools = called_tools(chain, options.section)
    recognition = Recognition(frozenset((*tools, *options.names)), options.section, raw="raw" in options.sources)
    return Task(chain, options, recognition, context)
