"""Checking a long chain as a job: its structure when the page is opened, all contents when somebody asks.

What a job finds is kept with it and serves every look at the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.paths import parse_path
from chainviz.core.operations.repair import Fix, RepairOptions, propose
from chainviz.drafts.target import Target, target_of_job
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job

READING = "propose-repairs"


def start_reading(target: Target, *, content: bool, **asked: Any) -> Job:
    """Returns the job that is under way, where there is one."""
    known = reading_of(target, content=content, **asked)
    if known and not known.is_finished:
        return known
    return start_job(READING, owner=target.person, **target.job_args, content=content, **asked)


def reading_of(target: Target, *, content: bool, **asked: Any) -> Job | None:
    """The person's last reading of exactly this content; `asked`: options of a fix that is offered on demand."""
    args = {**target.job_args, "content": content, **asked}
    jobs = Job.objects.visible_to(target.person).filter(function=READING, args=args)
    return jobs.order_by("-pk").defer("result").first()


def read_content(context: JobContext, *, content: bool = True, only: Sequence[str] = (), since: str = "", **args: Any) -> list[Any]:
    """Jobs from before issue 8 do not name `content`."""
    options = RepairOptions(content=content, only=tuple(only), since=since)
    return [_packed(fix) for fix in propose(target_of_job(context.job).stored, options, context.report)]


def _packed(fix: Fix) -> list[Any]:
    """In the order of its fields."""
    return [
        fix.id, fix.rule, str(fix.path), fix.message, fix.problem, fix.choices, fix.choice, fix.accepted, fix.default,
        fix.bytes_before, fix.bytes_after,
    ]  # fmt: skip


def fixes_of(job: Job, options: RepairOptions) -> list[Fix]:
    """Returns what a finished reading proposes, accepted as the options say."""
    fixes = (
        Fix(id, rule, parse_path(path), message, problem, tuple(choices), *rest)
        for id, rule, path, message, problem, choices, *rest in job.result
    )
    return [_decided(fix, options) for fix in fixes]


def _decided(fix: Fix, options: RepairOptions) -> Fix:
    chosen = options.chosen()
    wanted = (chosen.get(key) for key in (fix.id, fix.rule, fix.name))
    choice = next((each for each in wanted if each in fix.choices), fix.choice)
    # the job knows which fixes stand before the place from which they are asked for
    return replace(fix, accepted=options.accepts(fix) and (fix.accepted or not options.since), choice=choice)
