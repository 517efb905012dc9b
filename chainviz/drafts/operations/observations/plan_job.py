"""Planning the conversion of a long chain as a job. What it finds is kept with the job and serves every look at the page."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.contract import Context
from chainviz.core.operations.observations.options import ObservationsOptions
from chainviz.drafts.operations.observations.summary import summaries_of, to_json
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

PLANNING = "plan-observations"
EDITION = 2
"""Raise it when the plan or its JSON changes: older ones are not used any more."""


def planning_job(target: Target, options: ObservationsOptions) -> Job:
    """The person's last plan with these options. Begins one where there is none: it stores only what the chain says."""
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
