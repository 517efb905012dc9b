"""A job may let a model write: its row shows how far it is, and cancelling the job ends the asking."""

from __future__ import annotations

import threading

import pytest

from chainviz.accounts.models import local_owner
from chainviz.jobs.lease import cancel
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import start_job
from chainviz.jobs.worker import run_waiting_jobs
from tests.llm.fake_server import Exchange, says, serving
from tests.waiting import PATIENCE, PROMPT, wait_for

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_job_writes_all_pieces() -> None:
    with serving(says("a summary")) as server:
        job = start_job("summarize", owner=local_owner(), url=server.url, pieces=3)
        run_waiting_jobs()
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.message
    assert job.result == [["done", "a summary"]] * 3


def test_a_cancelled_job_hangs_up_within_a_second() -> None:
    begun = threading.Event()

    def play(exchange: Exchange) -> None:
        begun.set()
        exchange.pause(PATIENCE)

    with serving(play) as server:
        job = start_job("summarize", owner=local_owner(), url=server.url, pieces=3)
        worker = threading.Thread(target=run_worker)
        worker.start()
        assert begun.wait(PATIENCE)
        cancel(job)
        wait_for(lambda: Job.objects.get(pk=job.pk).is_finished, PROMPT)
        assert Job.objects.get(pk=job.pk).state == Job.State.CANCELLED
        worker.join(PATIENCE)
    assert len(server.seen) <= 2


def run_worker() -> None:
    from django.db import connection

    try:
        run_waiting_jobs()
    finally:
        connection.close()
