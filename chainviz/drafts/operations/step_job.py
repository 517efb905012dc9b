"""A step of a long chain as a job: what every one of them shares, from when it is needed to how it ends."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

from chainviz.drafts.models import Draft
from chainviz.drafts.services import Report
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext
from chainviz.store.content.chain import StoredChain

MESSAGES_AT_ONCE = 20_000
BYTES_AT_ONCE = 20_000_000
"""What is read while a page is made takes about a second; more is a job."""
WRITING = 0.7
"""How far a job is when its step is worked out."""


def is_long(chain: StoredChain) -> bool:
    return len(chain) > MESSAGES_AT_ONCE or chain.snapshot.size > BYTES_AT_ONCE


def working_out(context: JobContext) -> Report:
    """Tells how far that part of the job is."""
    return lambda done, text: context.report(done * WRITING, text)


def write_step(
    context: JobContext, changes: int, taking: AbstractContextManager[Draft], warnings: Iterable[str] = ()
) -> dict[str, Any]:
    """The job's result. `taking` makes the step; its block is part of the transaction."""
    context.report(WRITING, f"Writing {changes:,} changes")
    with taking as made:
        result = {"draft": made.pk, "warnings": [*warnings]}
        # part of the transaction: whoever takes this job over would make the step a second time
        if context.is_cancelled() or not lease.finish(context.job, Job.State.DONE, result=result):
            raise Cancelled
    return result
