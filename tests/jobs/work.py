"""Functions that the job tests run."""

from __future__ import annotations

import time
from typing import Any

from django.db import transaction

from chainviz.core.errors import ChainError
from chainviz.jobs.lease import cancel
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext

STRANGE = "NUL \x00 and half an emoji \ud83d"


def add(context: JobContext, first: int, second: int) -> dict[str, Any]:
    context.report(0.5, f"adding {STRANGE}")
    return {"sum": first + second, "strange": STRANGE}


def refuse(context: JobContext) -> None:
    raise ChainError("Message 3 has no role. Give it one.")


def crash(context: JobContext) -> None:
    raise ZeroDivisionError("secret detail")


def be_cancelled(context: JobContext) -> None:
    cancel(context.job)
    assert context.is_cancelled()
    context.report(0.9)
    raise AssertionError("a cancelled job went on")


def lose_the_lease(context: JobContext) -> str:
    """As if this worker had slept so long that another one took the job over."""
    Job.objects.filter(pk=context.job.pk).update(attempts=9)
    return "too late"


def hang_at_first(context: JobContext) -> str:
    context.report(0.1, "started")
    while context.job.attempts == 1:
        time.sleep(0.05)
    return f"attempt {context.job.attempts}"


def write_at_first(context: JobContext) -> str:
    while context.job.attempts == 1:
        with transaction.atomic():
            context.report(0.1, "started")
    return f"attempt {context.job.attempts}"


NOTED: list[str] = []


def fail() -> None:
    raise RuntimeError("a chore fails")


def note() -> None:
    NOTED.append("done")
