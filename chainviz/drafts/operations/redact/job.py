"""Redacting a long chain as a job."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.redact import RedactOptions
from chainviz.drafts.job_target import ground_of_job, job_of, named
from chainviz.drafts.operations.redact.step import prepare, taking
from chainviz.drafts.operations.step_job import working_out, write_step
from chainviz.drafts.target import Ground
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

REDACTING = "redact"


def start_redacting(ground: Ground, user: Any, options: RedactOptions) -> Job:
    """The one under way, where there is one for this content."""
    return redacting_of(ground, user) or start_job(REDACTING, owner=user, **named(ground), options=options.model_dump())


def redacting_of(ground: Ground, user: Any, number: int | None = None) -> Job | None:
    return job_of(REDACTING, ground, user, number)


def redact_content(
    context: JobContext, chain: int, version: int, draft: int | None, seen: list[int], options: dict[str, Any]
) -> dict[str, Any]:
    ground = ground_of_job(chain, version, draft, seen)
    prepared = prepare(ground.stored, RedactOptions.model_validate(options), working_out(context))
    outcome = prepared.outcome
    return write_step(context, len(outcome.changes), taking(ground, context.job.owner, prepared), outcome.warnings)
