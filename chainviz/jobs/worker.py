"""The loop that runs jobs: a thread of the one-command server, or a process of its own (`chainviz worker`)."""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connection
from django.utils.crypto import get_random_string
from django_tasks_db.management.commands.db_worker import Worker

from chainviz.jobs import lease
from chainviz.jobs.tasks import enqueue, is_waiting, prune_tasks
from chainviz.store.transfer.leases import clear_abandoned, clear_abandoned_steps

log = logging.getLogger(__name__)
POLL_SECONDS = 0.5


def make_worker(*, until_idle: bool = False) -> Worker:
    return Worker(
        queue_names=["default"],
        interval=POLL_SECONDS,
        batch=until_idle,
        backend_name="default",
        startup_delay=False,
        max_tasks=None,
        worker_id=get_random_string(32),
        excluded_queue_names=[],
    )


def run_worker() -> None:
    """Runs jobs until the process is told to stop."""
    start_sweeper()
    worker = make_worker()
    worker.configure_signals()
    worker.run()


def start_worker_thread() -> None:
    """Runs jobs beside the pages of one process; ends with it."""
    start_sweeper()
    threading.Thread(target=_run_for_ever, daemon=True, name="jobs").start()


def _run_for_ever() -> None:
    while True:
        try:
            make_worker().run()
        except DatabaseError:
            log.exception("the job thread lost the database; trying again")
            connection.close()
            threading.Event().wait(5)


def start_sweeper() -> None:
    threading.Thread(target=_sweep_for_ever, daemon=True, name="job-sweeper").start()


def _sweep_for_ever() -> None:
    while True:
        try:
            lease.take_over_expired(enqueue, is_waiting)
            clear_abandoned()
            clear_abandoned_steps()
            prune_tasks()
        except DatabaseError:
            log.exception("could not look for what was interrupted or has ended")
        close_old_connections()
        threading.Event().wait(lease.LEASE.total_seconds() / 2)
