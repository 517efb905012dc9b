"""Every change of a job's state. A lease says who works on a job; what a worker without it writes is dropped.

django-tasks-db brings a task to a worker once and then forgets it: a killed worker leaves it "running" for ever.
So the truth is the Job row: it is claimed for a short time, kept by a heartbeat, and taken over when that stops.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chainviz.jobs.models import Job, JobQuerySet

LEASE = timedelta(seconds=30)
INTERRUPTED = "The worker stopped in the middle of this job, more than once. Start it again if you still want it."

Enqueue = Callable[[int], str]


def start(function: str, args: dict[str, Any], *, owner: Any, max_attempts: int, enqueue: Enqueue) -> Job:
    with transaction.atomic():
        now = timezone.now()
        job = Job.objects.create(
            function=function,
            args=args,
            owner=owner,
            max_attempts=max_attempts,
            created_at=now,
            lease_until=now + LEASE,
        )
        job.task_id = enqueue(job.pk)
        job.save(update_fields=["task_id"])
    return job


def claim(job_id: int) -> Job | None:
    """The job, now ours for one lease, or None when it is finished, cancelled or in other hands."""
    now = timezone.now()
    queued = Job.objects.filter(pk=job_id, state=Job.State.QUEUED)
    changed = queued.update(
        state=Job.State.RUNNING, attempts=F("attempts") + 1, heartbeat_at=now, lease_until=now + LEASE
    )
    return Job.objects.get(pk=job_id) if changed else None


def held(job: Job) -> JobQuerySet:
    """The row, only as long as this attempt holds it."""
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)


def beat(job: Job) -> bool:
    """Keeps the lease; False when it was lost to another worker."""
    now = timezone.now()
    return bool(held(job).update(heartbeat_at=now, lease_until=now + LEASE))


def finish(job: Job, state: Job.State, *, message: str | None = None, result: Any = None) -> bool:
    changes: dict[str, Any] = {"state": state, "result": result, "finished_at": timezone.now()}
    if state == Job.State.DONE:
        changes["progress"] = 1
    if message is not None:
        changes["message"] = storable(message)
    return bool(held(job).update(**changes))


def cancel(job: Job) -> None:
    """A waiting job is cancelled at once; a running one is asked, and stops at its next progress report."""
    Job.objects.filter(pk=job.pk, state__in=[Job.State.QUEUED, Job.State.RUNNING]).update(cancel_requested=True)
    Job.objects.filter(pk=job.pk, state=Job.State.QUEUED).update(state=Job.State.CANCELLED, finished_at=timezone.now())


def take_over_expired(enqueue: Enqueue, is_waiting: Callable[[str], bool]) -> int:
    """Gives jobs whose worker fell silent to another one, or ends them as interrupted. Returns how many it touched."""
    now = timezone.now()
    expired = Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING], lease_until__lt=now)
    return sum(_take_over(job, now, enqueue, is_waiting) for job in expired)


def _take_over(job: Job, now: datetime, enqueue: Enqueue, is_waiting: Callable[[str], bool]) -> bool:
    # Compared with what was read, so that of two sweepers only one acts.
    same = Job.objects.filter(pk=job.pk, state=job.state, attempts=job.attempts, lease_until=job.lease_until)
    if job.state == Job.State.QUEUED and is_waiting(job.task_id):
        same.update(lease_until=now + LEASE)
        return False
    if job.cancel_requested:
        return bool(same.update(state=Job.State.CANCELLED, finished_at=now))
    if job.attempts >= job.max_attempts:
        return bool(same.update(state=Job.State.INTERRUPTED, message=INTERRUPTED, finished_at=now))
    with transaction.atomic():
        if not same.update(state=Job.State.QUEUED, lease_until=now + LEASE):
            return False
        Job.objects.filter(pk=job.pk).update(task_id=enqueue(job.pk))
    return True


def storable(text: str) -> str:
    """PostgreSQL refuses NUL, and no database takes a lone surrogate."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\N{REPLACEMENT CHARACTER}")
