"""Convert tool results: plan what would change, stay or be lost, then apply the plan. Raises Refused if something would be lost, unless
the options force it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.tree import message_paths
from chainviz.core.errors import Refused
from chainviz.core.observations.reader import Recognition, called_tools
from chainviz.core.observations.texts import Loss
from chainviz.core.operations.contract import Badge, Context, Decision, Outcome
from chainviz.core.operations.observations import rewrites
from chainviz.core.operations.observations.rewrites import ConventionName, ObservationsOptions, Rewrite, Skip, Task

WAYS = {"keep": rewrites.reformat_texts, "to_text": rewrites.move_to_text, "to_tools": rewrites.move_to_tools}


@dataclass(frozen=True, slots=True)
class Plan:
    rewrites: tuple[Rewrite, ...]
    kept: tuple[Skip, ...]

    @property
    def losses(self) -> tuple[Loss, ...]:
        return tuple(loss for rewrite in self.rewrites for loss in rewrite.losses)

    @property
    def results(self) -> int:
        """The number of results that would be rewritten."""
        return sum(rewrite.results for rewrite in self.rewrites)

    @property
    def survived(self) -> int:
        """The number of results that read back with the same name, order and bytes."""
        return sum(rewrite.survived for rewrite in self.rewrites)

    @property
    def ids(self) -> int:
        """The number of call ids that are lost (to_text) or generated (to_tools)."""
        return sum(rewrite.ids for rewrite in self.rewrites)


def plan_conversion(chain: Chain, options: ObservationsOptions, context: Context, tools: Collection[str] | None = None) -> Plan:
    """Plan the conversion. `tools` are the names that results may have; None to read them from the chain."""
    found = list(WAYS[options.roles](_task(chain, options, context, tools)))
    return Plan(tuple(each for each in found if isinstance(each, Rewrite)), tuple(each for each in found if isinstance(each, Skip)))


def plan_conventions(chain: Chain, options: ObservationsOptions, context: Context, tools: Collection[str]) -> dict[str, Plan]:
    """Return a plan for each convention, with the same other options and message roles. Reads the chain once."""
    found: dict[ConventionName, list[Rewrite]] = {convention: [] for convention in get_args(ConventionName)}
    for convention, rewrite in rewrites.reformat_texts_to(_task(chain, options, context, tools), tuple(found)):
        found[convention].append(rewrite)
    return {convention: Plan(tuple(rewrites), ()) for convention, rewrites in found.items()}


def _task(chain: Chain, options: ObservationsOptions, context: Context, tools: Collection[str] | None) -> Task:
    if tools is None:
        tools = called_tools(chain, options.section)
    recognition = Recognition(frozenset((*tools, *options.names)), options.section, raw="raw" in options.sources)
    return Task(chain, options, recognition, context)


REWRITE, LOSE, KEEP = "rewrite", "lose", "keep"
"""Actions of rows in the report: a changed message, a loss in a changed message, a message that stays."""
SHOWN = 3
"""The most losses that a refusal names."""


class ConvertObservations:
    name = "observations"
    label = "Convert tool results"
    doing = "Converting observations"
    badge = Badge("Observations converted", "tool", "changed")
    nothing = "These choices convert no observations."
    Options = ObservationsOptions

    def run(self, chain: Chain, options: ObservationsOptions, context: Context) -> Outcome:
        return outcome_of(chain, plan_conversion(chain, options, context), options)


def outcome_of(chain: Chain, plan: Plan, options: ObservationsOptions) -> Outcome:
    """Return the planned change. Raises Refused if it loses something and `options.force` is off."""
    report = report_of(chain, plan)
    losses = [row for row in report if row.action == LOSE]
    drops_ids = options.roles == "to_text" and plan.ids > 0
    if not options.force and (losses or drops_ids):
        raise Refused(" ".join([*_lossy(plan, losses), *_dropped_ids(plan, drops_ids), "Set force to convert anyway."]))
    made = [f"{_call_ids(plan)} new."] if options.roles == "to_tools" and plan.ids else []
    warnings = (*_lossy(plan, losses), *_dropped_ids(plan, drops_ids), *made)
    return Outcome(tuple(rewrite.splice for rewrite in plan.rewrites), report, warnings)


def _lossy(plan: Plan, losses: Sequence[Decision]) -> Iterator[str]:
    if losses:
        named = "; ".join(f"{row.path} {row.reason}" for row in losses[:SHOWN])
        more = f"; {len(losses) - SHOWN:,} more" if len(losses) > SHOWN else ""
        yield f"{plan.survived:,} of {plan.results:,} results would read back unchanged: {named}{more}."


def _dropped_ids(plan: Plan, drops_ids: bool) -> Iterator[str]:
    if drops_ids:
        yield f"{_call_ids(plan)} dropped: no API can match these results to their calls any more."


def _call_ids(plan: Plan) -> str:
    return "1 call id is" if plan.ids == 1 else f"{plan.ids:,} call ids are"


def report_of(chain: Chain, plan: Plan) -> tuple[Decision, ...]:
    """Return a row for each rewritten range, each loss in it and each message that stays, in chain order."""
    paths = [str(path) for path in message_paths(chain.tree)] if plan.rewrites or plan.kept else []
    rows = [(each.message, Decision(paths[each.message], KEEP, each.reason)) for each in plan.kept]
    rows += [(each.splice.start, row) for each in plan.rewrites for row in _rows(each, paths)]
    return tuple(row for _, row in sorted(rows, key=lambda item: item[0]))


def _rows(rewrite: Rewrite, paths: Sequence[str]) -> Iterator[Decision]:
    start, last = rewrite.splice.start, rewrite.splice.start + rewrite.splice.removed - 1
    until = paths[last] if last > start else ""
    yield Decision(paths[start], REWRITE, rewrite.what, rewrite.size_before, rewrite.size_after, until)
    for loss in rewrite.losses:
        yield Decision(paths[start], LOSE, f"{loss.tool or 'the message'} {loss.reason}", loss.size, 0)
