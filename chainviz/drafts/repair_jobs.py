"""Repair of a long chain as jobs: reading all messages for what only contents show, and carrying the chosen fixes out."""

from __future__ import annotations

from typing import Any

from chainviz.core.operations.repair import Fix, Repair, RepairOptions, propose
from chainviz.core.paths import parse_path
from chainviz.drafts import services
from chainviz.drafts.access import Ground
from chainviz.drafts.job_grounds import ground_of_job, job_of, named
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.store.chain import StoredChain

READING = f"{__name__}.read_content"
MENDING = f"{__name__}.mend_content"
WRITING = 0.7
MESSAGES_AT_ONCE = 20_000
BYTES_AT_ONCE = 20_000_000
"""What is read while a page is made takes about a second; more is a job."""
REPAIR = Repair()


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.size > BYTES_AT_ONCE


def start_reading(ground: Ground, user: Any) -> Job:
    known = reading_of(ground, user)
    return known if known and not known.is_finished else start_job(read_content, owner=user, **named(ground))


def reading_of(ground: Ground, user: Any) -> Job | None:
    """The person's last reading of exactly this content."""
    jobs = Job.objects.visible_to(user).filter(function=READING, args=named(ground))
    return jobs.order_by("-pk").first()


def read_content(context: JobContext, chain: int, version: int, draft: int | None, seen: list[int]) -> list[Any]:
    ground = ground_of_job(chain, version, draft, seen)
    return [_packed(fix) for fix in propose(ground.stored, progress=context.report)]


def _packed(fix: Fix) -> list[Any]:
    """In the order of its fields."""
    return [
        fix.id, fix.rule, str(fix.path), fix.message, fix.problem, fix.choices, fix.choice, fix.accepted, fix.default,
        fix.bytes_before, fix.bytes_after,
    ]  # fmt: skip


def fixes_of(job: Job) -> list[Fix]:
    """What a finished reading proposes."""
    return [
        Fix(id, rule, parse_path(path), message, problem, tuple(choices), *rest)
        for id, rule, path, message, problem, choices, *rest in job.result
    ]


def start_mending(ground: Ground, user: Any, options: RepairOptions) -> Job:
    """The one under way, where there is one for this content."""
    known = mending_of(ground, user)
    return known or start_job(mend_content, owner=user, **named(ground), options=options.model_dump())


def mending_of(ground: Ground, user: Any, number: int | None = None) -> Job | None:
    return job_of(MENDING, ground, user, number)


def mend_content(
    context: JobContext, chain: int, version: int, draft: int | None, seen: list[int], options: dict[str, Any]
) -> dict[str, Any]:
    ground = ground_of_job(chain, version, draft, seen)
    chosen = RepairOptions.model_validate(options)
    outcome = services.worked_out(ground, REPAIR, chosen, lambda done, text: context.report(done * WRITING, text))
    context.report(WRITING, f"Writing {len(outcome.changes):,} changes")
    with services.taking(ground, context.job.owner, REPAIR, chosen, outcome) as made:
        result = {"draft": made.pk, "warnings": outcome.warnings}
        # part of the transaction: whoever takes this job over would mend a second time
        if context.is_cancelled() or not lease.finish(context.job, Job.State.DONE, result=result):
            raise Cancelled
    return result
