"""Masking a long chain as a job: prepared and written without holding anything, then shown and finished in one transaction."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.mask import MaskOptions
from chainviz.drafts.access import Ground
from chainviz.drafts.job_grounds import ground_of_job, job_of, named
from chainviz.drafts.masking import prepare, taking
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job

MASKING = f"{__name__}.mask_content"
WRITING = 0.9


def start_masking(ground: Ground, user: Any, options: MaskOptions) -> Job:
    """The one under way, where there is one for this content."""
    return masking_of(ground, user) or start_job(
        mask_content, owner=user, **named(ground), options=options.model_dump()
    )


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
        prepared = prepare(
            ground.stored,
            MaskOptions.model_validate(options),
            lambda done, text: context.report(done * WRITING, text),
        )
        context.report(WRITING, f"Writing {len(prepared.changes):,} messages")
        with taking(ground, context.job.owner, prepared) as made:
            # part of the transaction: whoever takes this job over would mask a second time
            if context.is_cancelled() or not lease.finish(context.job, Job.State.DONE, result={"draft": made.pk}):
                raise Cancelled
        return {"draft": made.pk}
    finally:
        # a pattern may spell out the very value
        told = {**context.job.args, "options": {**options, "own_patterns": ""}}
        Job.objects.filter(pk=context.job.pk).update(args=told)
