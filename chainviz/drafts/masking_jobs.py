"""Masking a long chain as a job: prepared and written without holding anything, then shown and finished in one transaction."""

from __future__ import annotations

from typing import Any

from chainviz.chains.models import Chain
from chainviz.core.errors import Refused
from chainviz.core.operations.mask import MaskOptions
from chainviz.drafts.access import Ground, version_of
from chainviz.drafts.masking import prepare, taking
from chainviz.drafts.models import Draft
from chainviz.drafts.services import MovedOn, ground_of_draft
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.store.chain import StoredChain

MASKING = f"{__name__}.mask_content"
WRITING = 0.9
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)


def start_masking(ground: Ground, user: Any, options: MaskOptions, **around: Any) -> Job:
    """The one under way, where there is one for this content. `around`: as `prepare` takes it."""
    return masking_of(ground, user) or start_job(
        mask_content,
        owner=user,
        chain=ground.chain.pk,
        version=ground.version.number,
        draft=ground.draft.pk if ground.draft else None,
        seen=_content(ground),
        options=options.model_dump(),
        around=around,
    )


def masking_of(ground: Ground, user: Any, number: int | None = None) -> Job | None:
    """The person's masking of that number in this chain, else the one of exactly this content that is under way."""
    jobs = Job.objects.about(ground.chain).visible_to(user).filter(function=MASKING)
    if number is not None:
        return jobs.filter(pk=number).first()
    return next((job for job in jobs.filter(state__in=UNFINISHED) if job.args["seen"] == _content(ground)), None)


def _content(ground: Ground) -> list[Any]:
    return [ground.stored.snapshot.pk, ground.edition]


def mask_content(
    context: JobContext,
    chain: int,
    version: int,
    draft: int | None,
    seen: list[Any],
    options: dict[str, Any],
    around: dict[str, Any],
) -> dict[str, Any]:
    try:
        ground = _ground(chain, version, draft)
        if _content(ground) != seen:
            raise MovedOn("The content changed since this was asked for; look at it again.")
        prepared = prepare(
            ground.stored,
            MaskOptions.model_validate(options),
            lambda done, text: context.report(done * WRITING, text),
            **around,
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


def _ground(chain: int, version: int, draft: int | None) -> Ground:
    if draft is not None:
        found = Draft.objects.open().filter(pk=draft, chain=chain).first()
        if found is None:
            raise Refused("The draft was saved or discarded meanwhile.")
        return ground_of_draft(found)
    row = Chain.objects.filter(pk=chain).first()
    if row is None:
        raise Refused("The chain was deleted for good meanwhile.")
    of = version_of(row, version)
    return Ground(row, of, None, StoredChain(of.snapshot))
