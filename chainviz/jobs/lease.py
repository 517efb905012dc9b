"""Every change of a job's state. The table of jobs is the queue.

A worker claims a job for a short time and renews its lease by a heartbeat. If the heartbeat stops, another worker gets the job, and
everything that the first worker writes without the lease is dropped.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import F, Q
from django.utils import timezone

from chainviz.jobs.models import Job, JobQuerySet

LEASE = timedelta(seconds=30)
INTERRUPTED = "The worker stopped in the middle of this job, more than once. Start it again if you still want it."

State = Job.State


def claim(job_id: int) -> Job | None:
    """Claim a job for one lease and return it; None if it is finished or cancelled, or another worker has it."""
    queued = Job.objects.filter(pk=job_id, state=State.QUEUED)
    changed = queued.update(state=State.RUNNING, attempts=F("attempts") + 1, lease_until=timezone.now() + LEASE)
    return Job.objects.get(pk=job_id) if changed else None


def claim_next() -> Job | None:
    """Claim the job that has waited longest and return it; None if no job is due."""
    is_due = Q(due_at=None) | Q(due_at__lte=timezone.now())
    queued = Job.objects.filter(is_due, state=State.QUEUED).order_by("pk").values_list("pk", flat=True)
    while (job_id := queued.first()) is not None:
        if (job := claim(job_id)) is not None:
            return job
    return None


def leased_row(job: Job) -> JobQuerySet:
    """Select the row, if this attempt still has the lease."""
    return Job.objects.filter(pk=job.pk, state=State.RUNNING, attempts=job.attempts)


def beat(job: Job) -> bool:
    """Renew the lease. Return False if another worker has it."""
    return bool(leased_row(job).update(lease_until=timezone.now() + LEASE))


def give_back(job: Job) -> None:
    """Queue the job again because its worker must stop. This attempt does not count."""
    leased_row(job).update(state=State.QUEUED, max_attempts=F("max_attempts") + 1)


def finish(job: Job, state: Job.State, *, message: str | None = None, result: Any = None) -> bool:
    changes: dict[str, Any] = {"state": state, "result": result, "finished_at": timezone.now()}
    if state == State.DONE:
        changes["progress"] = 1
    if message is not None:
        changes["message"] = storable(message)
    return bool(leased_row(job).update(**changes))


def cancel(job: Job) -> None:
    """Cancel a waiting job at once; request a running one to stop at its next progress report."""
    Job.objects.filter(pk=job.pk).unfinished().update(cancel_requested=True)
    Job.objects.filter(pk=job.pk, state=State.QUEUED).update(state=State.CANCELLED, finished_at=timezone.now())


def take_over_expired() -> int:
    """Queue jobs with an expired lease again, or end them as interrupted. Return the number of such jobs."""
    now = timezone.now()
    expired = Job.objects.filter(state=State.RUNNING, lease_until__lt=now)
    cancelled = expired.filter(cancel_requested=True).update(state=State.CANCELLED, finished_at=now)
    last = expired.filter(attempts__gte=F("max_attempts"))
    interrupted = last.update(state=State.INTERRUPTED, message=INTERRUPTED, finished_at=now)
    return cancelled + interrupted + expired.update(state=State.QUEUED)


def storable(text: str) -> str:
    """Return text that every database accepts: PostgreSQL refuses NUL, and all refuse lone surrogates."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")
