"""Real worker processes and kill -9: the job goes to another worker, or is told to be interrupted."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from chainviz.accounts.models import local_owner
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import start_job
from tests import ROOT
from tests.jobs import JOBS
from tests.waiting import PATIENCE, wait_for

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]

LEASE = 4
"""Seconds: enough that a living worker keeps its job on a busy machine too."""
WORKER = f"""
from datetime import timedelta
from chainviz.commands.server.startup import set_up_django
set_up_django()
from django.conf import settings
settings.JOBS.update({JOBS})
from chainviz.jobs import lease
lease.LEASE = timedelta(seconds={LEASE})
from chainviz.jobs import worker
worker.GRACE_SECONDS = {LEASE}
from chainviz.cli import main
main(["worker"])
"""


def database_url() -> str:
    wanted = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{wanted['NAME']}"
    password = f":{wanted['PASSWORD']}" if wanted["PASSWORD"] else ""
    return f"postgresql://{wanted['USER']}{password}@{wanted['HOST']}:{wanted['PORT']}/{wanted['NAME']}"


StartWorker = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[StartWorker]:
    environment = {**os.environ, "CHAINVIZ_DATABASE_URL": database_url(), "CHAINVIZ_DATA": str(tmp_path)}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    running: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        running.append(subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=environment))
        return running[-1]

    yield start
    for worker in running:
        worker.kill()
        worker.wait()


def wait_until(job: Job, *states: str) -> Job:
    def come() -> bool:
        job.refresh_from_db()
        return job.state in states

    wait_for(come, tell=lambda: f"the job is still {job.state}: {job.message}")
    return job


def test_another_worker_takes_over_after_kill_9(start_worker: StartWorker) -> None:
    job = start_job("hang_at_first", owner=local_owner())
    first = start_worker()
    wait_until(job, "running")
    start_worker()
    wait_until(start_job("add", owner=local_owner(), first=1, second=1), "done")  # so the second one is at work
    time.sleep(1.5 * LEASE)
    assert wait_until(job, "running").attempts == 1, "a living worker keeps its job beyond the first lease"
    first.kill()
    job = wait_until(job, "done", "failed", "interrupted")
    assert (job.state, job.result, job.attempts) == ("done", "attempt 2", 2)


def test_a_job_without_attempts_left_is_interrupted(start_worker: StartWorker) -> None:
    job = start_job("hang_at_first", owner=local_owner(), max_attempts=1)
    first = start_worker()
    wait_until(job, "running")
    first.kill()
    first.wait()
    start_worker()
    assert wait_until(job, "done", "failed", "interrupted").state == "interrupted"


def test_a_worker_that_is_asked_to_stop_gives_its_job_back(start_worker: StartWorker) -> None:
    """At once, and the attempt does not count."""
    job = start_job("hang_at_first", owner=local_owner(), max_attempts=1)
    worker = start_worker()
    wait_for(lambda: Job.objects.get(pk=job.pk).message == "started")
    worker.terminate()
    assert worker.wait(timeout=PATIENCE) == 0
    job.refresh_from_db()
    assert (job.state, job.attempts) == ("queued", 1)
    start_worker()
    assert wait_until(job, "done", "failed", "interrupted").result == "attempt 2"


@contextmanager
def locked_database() -> Iterator[None]:
    """Another program holds the lock that every write of a job needs."""
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=PATIENCE)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.rollback()
    else:
        with psycopg.connect(database_url()) as other:
            other.execute(f"LOCK TABLE {Job._meta.db_table} IN EXCLUSIVE MODE")
            yield
            other.rollback()


@pytest.mark.parametrize("function", ["hang_at_first", "write_at_first"])
def test_worker_that_is_stopped_while_the_database_is_locked_ends(start_worker: StartWorker, function: str) -> None:
    job = start_job(function, owner=local_owner(), max_attempts=2)
    worker = start_worker()
    wait_for(lambda: Job.objects.get(pk=job.pk).message == "started")
    with locked_database():
        worker.terminate()
        worker.wait(timeout=PATIENCE)
    with locked_database():  # nobody holds the lock
        pass
    start_worker()
    assert wait_until(job, "done", "failed", "interrupted").result == "attempt 2"
