"""A job ends in exactly one state, tells why, and is never "running" without somebody working on it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from django_tasks_db.models import DBTaskResult

from chainviz.accounts.models import local_owner
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import KEPT, enqueue, is_waiting, prune_tasks, run_job, start_job
from chainviz.jobs.worker import make_worker
from tests.jobs import work

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
State = Job.State


def started(function: Any, **options: Any) -> Job:
    return start_job(function, owner=local_owner(), **options)


def after_work(job: Job) -> Job:
    make_worker(until_idle=True).run()
    job.refresh_from_db()
    return job


def let_lease_expire(job: Job, **changes: Any) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1), **changes)


def sweep() -> int:
    return lease.take_over_expired(enqueue, is_waiting)


def test_a_job_runs_and_keeps_its_result_whatever_text_it_holds() -> None:
    job = after_work(started(work.add, first=2, second=3))
    assert (job.state, job.progress, job.attempts) == (State.DONE, 1, 1)
    assert job.result == {"sum": 5, "strange": work.STRANGE}
    assert job.message.startswith("adding NUL \N{REPLACEMENT CHARACTER}")
    assert job.finished_at is not None
    assert job.is_finished


def test_a_refusal_is_told_as_it_is() -> None:
    job = after_work(started(work.refuse))
    assert (job.state, job.message) == (State.FAILED, "Message 3 has no role. Give it one.")


def test_a_bug_is_told_without_its_details() -> None:
    job = after_work(started(work.crash))
    assert job.state == State.FAILED
    assert "ZeroDivisionError" in job.message
    assert "secret detail" not in job.message


def test_a_waiting_job_is_cancelled_at_once_and_never_runs() -> None:
    job = started(work.add, first=1, second=1)
    lease.cancel(job)
    job = after_work(job)
    assert (job.state, job.attempts, job.result) == (State.CANCELLED, 0, None)


def test_a_running_job_stops_at_its_next_report() -> None:
    assert after_work(started(work.be_cancelled)).state == State.CANCELLED


def test_what_a_worker_writes_after_losing_its_lease_is_dropped() -> None:
    job = after_work(started(work.lose_the_lease))
    assert (job.state, job.result) == (State.RUNNING, None)


def test_a_job_is_claimed_once() -> None:
    job = started(work.add, first=1, second=1)
    assert lease.claim(job.pk) is not None
    assert lease.claim(job.pk) is None
    run_job.call(job.pk)
    job.refresh_from_db()
    assert job.state == State.RUNNING


def test_a_heartbeat_keeps_the_lease_and_only_the_holder_has_one() -> None:
    job = lease.claim(started(work.add, first=1, second=1).pk)
    assert job is not None
    let_lease_expire(job)
    assert lease.beat(job)
    assert sweep() == 0
    Job.objects.filter(pk=job.pk).update(attempts=2)
    assert not lease.beat(job)


def test_a_silent_worker_loses_its_job_to_another() -> None:
    job = started(work.add, first=1, second=1)
    make_worker_die_with(job)
    assert sweep() == 1
    assert sweep() == 0
    job = after_work(job)
    assert (job.state, job.attempts) == (State.DONE, 2)


def test_a_job_that_kills_every_worker_ends_as_interrupted() -> None:
    job = started(work.add, first=1, second=1, max_attempts=1)
    make_worker_die_with(job)
    assert sweep() == 1
    job = after_work(job)
    assert (job.state, job.attempts) == (State.INTERRUPTED, 1)
    assert "Start it again" in job.message


def test_a_cancelled_job_of_a_dead_worker_ends_as_cancelled() -> None:
    job = started(work.add, first=1, second=1)
    make_worker_die_with(job)
    lease.cancel(job)
    assert sweep() == 1
    assert after_work(job).state == State.CANCELLED


def test_a_long_queue_is_no_reason_to_queue_twice() -> None:
    job = started(work.add, first=1, second=1)
    let_lease_expire(job)
    assert sweep() == 0
    assert DBTaskResult.objects.count() == 1


def test_a_task_that_got_lost_before_the_claim_is_queued_again() -> None:
    job = started(work.add, first=1, second=1)
    DBTaskResult.objects.all().delete()
    let_lease_expire(job)
    assert sweep() == 1
    assert after_work(job).state == State.DONE


def make_worker_die_with(job: Job) -> None:
    """What a kill -9 leaves: the task taken, the job running, and a lease that nobody renews."""
    DBTaskResult.objects.update(status="RUNNING")
    assert lease.claim(job.pk) is not None
    let_lease_expire(job)


def test_tasks_that_ended_leave_the_queue_after_a_while() -> None:
    after_work(started(work.add, first=1, second=1))
    left_behind, working = started(work.add), started(work.add)
    rows = DBTaskResult.objects.all()
    rows.filter(id__in=[left_behind.task_id, working.task_id]).update(status="RUNNING", started_at=timezone.now())
    Job.objects.filter(pk=working.pk).update(state=State.RUNNING)
    Job.objects.filter(pk=left_behind.pk).update(state=State.INTERRUPTED)
    assert prune_tasks() == 0
    long_ago = timezone.now() - KEPT - timedelta(minutes=1)
    rows.filter(finished_at=None).update(started_at=long_ago)
    rows.exclude(finished_at=None).update(finished_at=long_ago)
    assert prune_tasks() == 2
    assert [str(row.id) for row in rows] == [working.task_id]
    assert Job.objects.count() == 3
