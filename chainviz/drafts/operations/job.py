"""An operation on a long chain as a job: what it proposes is worked out and written, and becomes a step of a draft."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Operation, Options
from chainviz.drafts import services
from chainviz.drafts.job_target import ground_of_job, job_of, named
from chainviz.drafts.operations.step_job import working_out, write_step
from chainviz.drafts.target import Ground
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

CARRYING_OUT = "run-operation"


def start_operation(ground: Ground, user: Any, operation: Operation[Any], options: Options) -> Job:
    """The one under way, where there is one for this content."""
    return operation_job(operation, ground, user) or start_job(
        CARRYING_OUT, owner=user, **named(ground), operation=operation.name, options=options.model_dump()
    )


def operation_job(operation: Operation[Any], ground: Ground, user: Any, number: int | None = None) -> Job | None:
    return job_of(CARRYING_OUT, ground, user, number, operation=operation.name)


def carry_out(
    context: JobContext,
    chain: int,
    version: int,
    draft: int | None,
    seen: list[int],
    operation: str,
    options: dict[str, Any],
) -> dict[str, Any]:
    ground = ground_of_job(chain, version, draft, seen)
    chosen = next(each for each in OPERATIONS if each.name == operation)
    said = chosen.Options.model_validate(options)
    outcome = services.worked_out(ground, chosen, said, working_out(context))
    taking = services.taking(ground, context.job.owner, chosen, said, outcome)
    return write_step(context, len(outcome.changes), taking, services.warnings_of(ground, outcome))
