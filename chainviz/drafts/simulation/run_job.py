"""A simulation over all turns of a long chain as a job: nothing is written but its result."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.contract import Context
from chainviz.drafts.simulation.run import Chosen, run_simulation
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job

FUNCTION = "simulate-strategies"
MESSAGES_AT_ONCE = 3_000
EDITION = 3
"""Of the form of the result: older results are not found any more."""


def start(target: Target, chosen: Chosen) -> Job:
    return start_job(FUNCTION, owner=target.person, **target.job_args, chosen=chosen.model_dump(), edition=EDITION)


def find(target: Target, number: int) -> Job | None:
    jobs = Job.objects.about(target.chain).visible_to(target.person).filter(function=FUNCTION, pk=number)
    return next((job for job in jobs if job.args["seen"] == target.content and job.args.get("edition") == EDITION), None)


def simulate_content(context: JobContext, **args: Any) -> dict[str, Any]:
    """Returns the simulation as JSON."""
    target = target_of_job(context.job)
    context.report(0.0, "Reading sizes and roles")
    chosen = Chosen.model_validate(args["chosen"])
    ran = run_simulation(target.stored, chosen, Context(progress=context.report, cancelled=context.is_cancelled))
    if not ran.is_complete:
        raise Cancelled
    return ran.model_dump(mode="json")
