"""Masking a long chain as a job."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.mask import WARNINGS, MaskOptions
from chainviz.drafts.job_target import ground_of_job, job_of, named
from chainviz.drafts.operations.mask.step import prepare, taking
from chainviz.drafts.operations.step_job import working_out, write_step
from chainviz.drafts.target import Ground
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

MASKING = "mask"


def start_masking(ground: Ground, user: Any, options: MaskOptions) -> Job:
    """The one under way, where there is one for this content."""
    return masking_of(ground, user) or start_job(MASKING, owner=user, **named(ground), options=options.model_dump())


def masking_of(ground: Ground, user: Any, number: int | None = None) -> Job | None:
    return job_of(MASKING, ground, user, number)


def mask_content(
    context: JobContext,
    chain: int,
    version: int,
    draft: int | None,
    seen: list[int],
    options: dict[str, Any],
) -> dict[str, Any]:
    try:
        ground = ground_of_job(chain, version, draft, seen)
        prepared = prepare(ground.stored, MaskOptions.model_validate(options), working_out(context))
        return write_step(context, len(prepared.changes), taking(ground, context.job.owner, prepared), WARNINGS)
    finally:
        # a pattern may spell out the very value
        told = {**context.job.args, "options": {**options, "own_patterns": ""}}
        Job.objects.filter(pk=context.job.pk).update(args=told)
