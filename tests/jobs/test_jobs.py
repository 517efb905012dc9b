"""A job ends in exactly one state, tells why, and is never "running" without somebody working on it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from chainviz.accounts.models import local_owner
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import EARLIER, run_job, run_next_job, start_job
from chainviz.jobs.worker import do_chores, run_waiting_jobs
from tests.jobs import work

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
State = Job.State


def started(name: str, **options: Any) -> Job:
    return start_job(name, owner=local_owner(), **options)


def after_work(job: Job) -> Job:
    run_waiting_jobs()
    job.refresh_from_db()
    return job


def let_lease_expire(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_job_runs_and_keeps_its_result_whatever_text_it_holds() -> None:
    job = after_work(started("add", first=2, second=3))
    assert (job.state, job.progress, job.attempts) == (State.DONE, 1, 1)
    assert job.result == {"sum": 5, "strange": work.STRANGE}
    assert job.message.startswith("adding NUL \N{REPLACEMENT CHARACTER}")
    assert job.finished_at is not None
    assert job.is_finished


def test_a_refusal_is_told_as_it_is() -> None:
    job = after_work(started("refuse"))
    assert (job.state, job.message) == (State.FAILED, "Message 3 has no role. Give it one.")


def test_a_bug_is_told_without_its_details() -> None:
    job = after_work(started("crash"))
    assert job.state == State.FAILED
    assert "ZeroDivisionError" in job.message
    assert "secret detail" not in job.message


def test_every_job_and_chore_of_the_application_has_its_function() -> None:
    assert all(callable(import_string(path)) for path in (*settings.JOBS.values(), *settings.CHORES))


def test_a_chore_that_fails_does_not_keep_the_others_from_running(settings: Any, caplog: Any) -> None:
    settings.CHORES = ["tests.jobs.work.fail", "tests.jobs.work.note"]
    work.NOTED.clear()
    do_chores()
    assert work.NOTED == ["done"]
    assert "tests.jobs.work.fail failed" in caplog.text


def test_a_job_under_an_unknown_name_is_not_started() -> None:
    with pytest.raises(KeyError):
        started("ad")
    assert not Job.objects.exists()


@pytest.mark.parametrize("changes", [{"function": "chainviz.drafts.stored_draft.mend_content"}, {"args": {"first": 1, "third": 2}}])
def test_a_job_that_this_version_cannot_run_is_to_be_started_again(changes: dict[str, Any]) -> None:
    job = started("add", first=1, second=1)
    Job.objects.update(**changes)
    job = after_work(job)
    assert (job.state, job.message) == (State.FAILED, EARLIER)


def test_the_job_that_has_waited_longest_runs_first() -> None:
    first, second = started("add", first=1, second=1), started("add", first=2, second=2)
    assert run_next_job()
    assert [Job.objects.get(pk=job.pk).state for job in (first, second)] == [State.DONE, State.QUEUED]
    assert run_next_job()
    assert not run_next_job()


def test_a_waiting_job_is_cancelled_at_once_and_never_runs() -> None:
    job = started("add", first=1, second=1)
    lease.cancel(job)
    job = after_work(job)
    assert (job.state, job.attempts, job.result) == (State.CANCELLED, 0, None)


def test_a_running_job_stops_at_its_next_report() -> None:
    assert after_work(started("be_cancelled")).state == State.CANCELLED


def test_what_a_worker_writes_after_losing_its_lease_is_dropped() -> None:
    job = after_work(started("lose_the_lease"))
    assert (job.state, job.result) == (State.RUNNING, None)


def test_a_job_is_claimed_once() -> None:
    job = started("add", first=1, second=1)
    assert lease.claim(job.pk) is not None
    assert lease.claim(job.pk) is None
    assert lease.claim_next() is None
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == State.RUNNING


def test_a_heartbeat_keeps_the_lease_and_only_the_holder_has_one() -> None:
    job = lease.claim(started("add", first=1, second=1).pk)
    assert job is not None
    let_lease_expire(job)
    assert lease.beat(job)
    assert lease.take_over_expired() == 0
    Job.objects.filter(pk=job.pk).update(attempts=2)
    assert not lease.beat(job)


def test_a_silent_worker_loses_its_job_to_another() -> None:
    job = started("add", first=1, second=1)
    make_worker_die_with(job)
    assert lease.take_over_expired() == 1
    assert lease.take_over_expired() == 0
    job = after_work(job)
    assert (job.state, job.attempts) == (State.DONE, 2)


def test_a_job_that_kills_every_worker_ends_as_interrupted() -> None:
    job = started("add", first=1, second=1, max_attempts=1)
    make_worker_die_with(job)
    assert lease.take_over_expired() == 1
    job = after_work(job)
    assert (job.state, job.attempts) == (State.INTERRUPTED, 1)
    assert "Start it again" in job.message


def test_a_cancelled_job_of_a_dead_worker_ends_as_cancelled() -> None:
    job = started("add", first=1, second=1)
    make_worker_die_with(job)
    lease.cancel(job)
    assert lease.take_over_expired() == 1
    assert after_work(job).state == State.CANCELLED


def make_worker_die_with(job: Job) -> None:
    """What a kill -9 leaves: the job running, and a lease that nobody renews."""
    assert lease.claim(job.pk) is not None
    let_lease_expire(job)
