"""Start and run jobs, and give a job's function a context to report progress."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime
from inspect import signature
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.module_loading import import_string

from chainviz.accounts.models import User
from chainviz.core.errors import ChainError, Refused
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.store.errors import FULL, is_disk_full

log = logging.getLogger(__name__)
EARLIER = "This job was started by an earlier version of chainviz; start it again."


class Cancelled(Exception):
    """Raised inside a job's function when somebody cancelled the job."""


class JobContext:
    """The context of a job's function: report progress, and stop on request."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def report(self, progress: float, message: str = "") -> None:
        """Write the progress. Raises Cancelled if the job was cancelled, or another worker has it."""
        mine = lease.leased_row(self.job)
        changed = mine.filter(cancel_requested=False).update(progress=min(max(progress, 0.0), 1.0), message=lease.storable(message))
        if not changed:
            raise Cancelled

    def is_cancelled(self) -> bool:
        return not lease.leased_row(self.job).filter(cancel_requested=False).exists()


def start_job(name: str, *, owner: User | None, max_attempts: int = 2, **args: Any) -> Job:
    """Queue a call of the function with this name in settings.JOBS: `function(context, **args)`.

    The arguments and the result must be JSON. Raises KeyError for an unknown name.
    """
    settings.JOBS[name]
    return Job.objects.create(function=name, args=args, owner=owner, max_attempts=max_attempts, created_at=timezone.now())


def start_job_later(due_at: datetime, name: str, **args: Any) -> Job:
    """Queue a call without an owner that no worker starts before a given time."""
    settings.JOBS[name]
    return Job.objects.create(function=name, args=args, created_at=timezone.now(), due_at=due_at)


def run_job(job_id: int) -> None:
    """Run the job in this process, unless it is finished or cancelled, or another worker has it."""
    job = lease.claim(job_id)
    if job is not None:
        _run(job)


def run_next_job() -> bool:
    """Run the job that has waited longest. Return False if no job is due."""
    job = lease.claim_next()
    if job is not None:
        _run(job)
    return job is not None


def _run(job: Job) -> None:
    stop, is_inside = threading.Event(), connection.in_atomic_block
    heart = threading.Thread(target=_keep_lease, args=(job, stop), daemon=True, name=f"job-{job.pk}-heartbeat")
    heart.start()
    try:
        _call(job)
    except (KeyboardInterrupt, SystemExit):
        _give_back(job, is_inside=is_inside)
        raise
    finally:
        stop.set()
        heart.join()


def _give_back(job: Job, *, is_inside: bool) -> None:
    """Queue the job again. The signal may have interrupted a statement or a commit, so the connection is replaced, unless the job runs
    inside a transaction of the caller."""
    try:
        if not is_inside:
            connection.close()
            connection.connect()
        lease.give_back(job)
    except DatabaseError as error:
        log.warning("job %s could not be given back (%s); another worker takes it when its lease has ended", job.pk, error)


def _call(job: Job) -> None:
    try:
        result = _function_of(job)(JobContext(job), **job.args)
    except Cancelled:
        lease.finish(job, Job.State.CANCELLED)
    except ChainError as error:
        lease.finish(job, Job.State.FAILED, message=str(error))
    except Exception as error:
        log.exception("job %s (%s) failed", job.pk, job.function)
        lease.finish(job, Job.State.FAILED, message=_failure(error))
    else:
        lease.finish(job, Job.State.DONE, result=result)


def _failure(error: Exception) -> str:
    if is_disk_full(error):
        return f"{FULL} Nothing was changed; free some space and start it again."
    return f"This is a bug in chainviz, not in your chain ({type(error).__name__}); the server's log says more."


def _function_of(job: Job) -> Callable[..., Any]:
    """Return the function of a job. Raises Refused if this version has no such function, or it has other parameters.

    In that case the job loses its arguments, because they may contain typed secrets, and the code that removes those finds jobs by name.
    """
    try:
        function: Callable[..., Any] = import_string(settings.JOBS[job.function])
        signature(function).bind(JobContext(job), **job.args)
    except (KeyError, TypeError):
        lease.leased_row(job).update(args={})
        raise Refused(EARLIER) from None
    return function


def _keep_lease(job: Job, stop: threading.Event) -> None:
    try:
        while not stop.wait(lease.LEASE.total_seconds() / 3) and _beats(job):
            pass
    finally:
        connection.close()


def _beats(job: Job) -> bool:
    """Renew the lease. Return True also if the database is locked, because that does not end the lease."""
    try:
        return lease.beat(job)
    except DatabaseError as error:
        log.warning("job %s could not keep its lease this time: %s", job.pk, error)
        return True
