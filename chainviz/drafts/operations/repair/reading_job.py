"""Reading all messages of a long chain for what only contents show, as a job."""

from __future__ import annotations

from typing import Any

from chainviz.core.chain.paths import parse_path
from chainviz.core.operations.repair import Fix, propose
from chainviz.drafts.job_target import ground_of_job, named
from chainviz.drafts.target import Ground
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

READING = "propose-repairs"


def start_reading(ground: Ground, user: Any) -> Job:
    known = reading_of(ground, user)
    return known if known and not known.is_finished else start_job(READING, owner=user, **named(ground))


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
