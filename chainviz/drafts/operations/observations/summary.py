"""The result of planned conversions: totals, and the messages that change. A job stores it as JSON, without any content."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from chainviz.core.chain.chain import Chain
from chainviz.core.observations.index import NumberTable
from chainviz.core.observations.reader import called_tools
from chainviz.core.operations.contract import Context
from chainviz.core.operations.observations.operation import Plan, plan_conventions, plan_conversion
from chainviz.core.operations.observations.rewrites import ObservationsOptions, Rewrite, Skip
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

MOST_LISTED = 500
"""The most unchanged messages that are listed; all are counted."""


class ChangeRow(NamedTuple):
    """Neighbouring messages that change."""

    start: int
    removed: int
    results: int
    survived: int
    size_before: int
    size_after: int
    losses: int


@dataclass(frozen=True)
class PlanSummary:
    changes: NumberTable[ChangeRow]
    kept: tuple[tuple[int, str], ...]
    """Messages that could not be converted, and the reason."""
    kept_count: int
    ids: int
    """The number of call ids that are lost or invented."""

    @property
    def results(self) -> int:
        return sum(self.changes.column("results"))

    @property
    def loss_count(self) -> int:
        return sum(self.changes.column("losses"))

    @property
    def survived(self) -> int:
        return sum(self.changes.column("survived"))

    @property
    def sizes(self) -> tuple[int, int]:
        """Bytes of the messages before and after."""
        return sum(self.changes.column("size_before")), sum(self.changes.column("size_after"))


@dataclass(frozen=True)
class Summaries:
    """Summaries of plans by convention; only one if message roles change."""

    tools: tuple[str, ...]
    """Names that results may have."""
    by_convention: Mapping[str, PlanSummary]


def summaries_of(chain: Chain, options: ObservationsOptions, context: Context) -> Summaries:
    context.progress(0, "Reading calls")
    tools = called_tools(chain, options.section)
    if options.roles == "keep":
        plans: Mapping[str, Plan] = plan_conventions(chain, options, context, tools)
    else:
        plans = {options.to: plan_conversion(chain, options, context, tools)}
    return Summaries(tuple(sorted(tools)), {name: _summary(plan) for name, plan in plans.items()})


def _summary(plan: Plan) -> PlanSummary:
    changes = NumberTable(ChangeRow)
    for rewrite in plan.rewrites:
        changes.append(_change(rewrite))
    kept = [_skip_values(each) for each in plan.kept]
    return PlanSummary(changes, tuple(kept[:MOST_LISTED]), len(kept), plan.ids)


def _change(rewrite: Rewrite) -> ChangeRow:
    splice = rewrite.splice
    return ChangeRow(
        splice.start, splice.removed, rewrite.results, rewrite.survived, rewrite.size_before, rewrite.size_after,
        len(rewrite.losses),
    )  # fmt: skip


def _skip_values(kept: Skip) -> tuple[int, str]:
    return kept.message, kept.reason


def to_json(summaries: Summaries) -> dict[str, Any]:
    packed = {
        name: [b64encode(each.changes.pack()).decode("ascii"), each.kept, each.kept_count, each.ids]
        for name, each in summaries.by_convention.items()
    }
    return {"tools": summaries.tools, "plans": packed}


def from_json(value: Mapping[str, Any]) -> Summaries:
    plans = {
        name: PlanSummary(
            NumberTable.unpack(ChangeRow, b64decode(changes)), tuple((message, reason) for message, reason in kept), kept_count, ids
        )
        for name, (changes, kept, kept_count, ids) in value["plans"].items()
    }
    return Summaries(tuple(value["tools"]), plans)


# Planning the conversion of a long chain as a job. What it finds is kept with the job and serves every look at the
# page.


PLANNING = "plan-observations"
EDITION = 2
"""Increase this if the plan or its JSON changes, so that older ones are not used any more."""


def planning_job(target: Target, options: ObservationsOptions) -> Job:
    """Return the person's last plan with these options, or begin one. It stores only facts of the chain."""
    jobs = Job.objects.visible_to(target.person).filter(function=PLANNING, args=_args(target, options))
    return jobs.order_by("-pk").first() or start_planning(target, options)


def start_planning(target: Target, options: ObservationsOptions) -> Job:
    return start_job(PLANNING, owner=target.person, **_args(target, options))


def _args(target: Target, options: ObservationsOptions) -> dict[str, Any]:
    # where roles stay, one plan has every convention
    left_out = {"force", "to"} if options.roles == "keep" else {"force"}
    return {**target.job_args, "options": options.model_dump(mode="json", exclude=left_out), "edition": EDITION}


def plan_content(context: JobContext, **args: Any) -> dict[str, Any]:
    options = ObservationsOptions.model_validate(args["options"])
    target = target_of_job(context.job)
    return to_json(summaries_of(target.stored, options, Context(progress=context.report)))
