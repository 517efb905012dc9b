"""Runs a job: the one django-tasks task of the application, and what the job's function may say while it runs."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks import task
from django_tasks.base import TaskResultStatus
from django_tasks.exceptions import TaskResultDoesNotExist
from django_tasks_db.models import DBTaskResult

from chainviz.core.errors import ChainError
from chainviz.jobs import lease
from chainviz.jobs.models import Job

log = logging.getLogger(__name__)
KEPT = timedelta(days=1)
"""How long the queue keeps a task that has ended, for whoever looks into the database."""


class Cancelled(Exception):
    """Raised inside a job's function when somebody asked to stop it."""


class JobContext:
    """Handed to a job's function: report progress, and stop when asked to."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def report(self, progress: float, message: str = "") -> None:
        """Writes how far it is; raises Cancelled when the job was cancelled or is no longer ours."""
        mine = lease.held(self.job)
        changed = mine.filter(cancel_requested=False).update(
            progress=min(max(progress, 0.0), 1.0), message=lease.storable(message)
        )
        if not changed:
            raise Cancelled

    def is_cancelled(self) -> bool:
        return not lease.held(self.job).filter(cancel_requested=False).exists()


def start_job(function: Callable[..., Any], *, owner: Any, max_attempts: int = 2, **args: Any) -> Job:
    """Stores a job that will call `function(context, **args)`; arguments and result must be JSON."""
    path = f"{function.__module__}.{function.__qualname__}"
    return lease.start(path, args, owner=owner, max_attempts=max_attempts, enqueue=enqueue)


def enqueue(job_id: int) -> str:
    return str(run_job.enqueue(job_id).id)


def is_waiting(task_id: str) -> bool:
    """Whether the queue still holds the task, so that patience is all that is needed."""
    try:
        return bool(run_job.get_result(task_id).status == TaskResultStatus.READY)
    except TaskResultDoesNotExist:
        return False


def prune_tasks() -> int:
    """Deletes rows of the queue that nothing reads any more: a job's own row says how it ended. Returns how many."""
    old = timezone.now() - KEPT
    ended = DBTaskResult.objects.finished().filter(finished_at__lt=old)
    # a killed worker leaves its task "running" for ever
    at_work = list(Job.objects.unfinished().exclude(task_id="").values_list("task_id", flat=True))
    left_behind = DBTaskResult.objects.running().filter(started_at__lt=old).exclude(id__in=at_work)
    return sum(rows.delete()[0] for rows in (ended, left_behind) if rows.exists())


@task()
def run_job(job_id: int) -> None:
    job = lease.claim(job_id)
    if job is None:
        return
    stop = threading.Event()
    heart = threading.Thread(target=_keep_lease, args=(job, stop), daemon=True, name=f"job-{job_id}-heartbeat")
    heart.start()
    try:
        _run(job)
    finally:
        stop.set()
        heart.join()


def _run(job: Job) -> None:
    try:
        result = import_string(job.function)(JobContext(job), **job.args)
    except Cancelled:
        lease.finish(job, Job.State.CANCELLED)
    except ChainError as error:
        lease.finish(job, Job.State.FAILED, message=str(error))
    except Exception as error:
        log.exception("job %s (%s) failed", job.pk, job.function)
        text = (
            f"This is a fault of chainviz, not of your chain ({type(error).__name__}); the log of the server says more."
        )
        lease.finish(job, Job.State.FAILED, message=text)
    else:
        lease.finish(job, Job.State.DONE, result=result)


def _keep_lease(job: Job, stop: threading.Event) -> None:
    try:
        while not stop.wait(lease.LEASE.total_seconds() / 3) and _beats(job):
            pass
    finally:
        connection.close()


def _beats(job: Job) -> bool:
    """A database that somebody else writes in for long is no reason to give the lease up."""
    try:
        return lease.beat(job)
    except DatabaseError as error:
        log.warning("job %s could not keep its lease this time: %s", job.pk, error)
        return True
