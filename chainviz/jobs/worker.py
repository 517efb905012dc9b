"""The loop that runs jobs, in a separate process (`chainviz worker`) or in a child of the server."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connection
from django.utils.module_loading import import_string

from chainviz.jobs import lease
from chainviz.jobs.tasks import run_next_job
from chainviz.store.transfer.leases import clear_abandoned, clear_abandoned_steps

log = logging.getLogger(__name__)
POLL_SECONDS = 0.5
RETRY_SECONDS = 5
CHORE_SECONDS = 3600
IDLE_SECONDS = 2
GRACE_SECONDS = 30
"""The seconds to end after a signal, longer than a statement waits for a locked database. After that the process is killed, and the lease
of its job expires."""


def run_worker() -> None:
    """Run jobs until the process receives a signal to stop; the current job then goes back to the queue."""
    stop = threading.Event()

    def end(*_: object) -> None:
        if not stop.is_set():
            stop.set()
            cut_off_later()
        sys.exit(0)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    start_sweeper()
    idle_at = 0.0
    while not stop.is_set():
        try:
            seconds = 0.0 if run_next_job() else POLL_SECONDS
            if seconds and time.monotonic() >= idle_at:
                idle_at = time.monotonic() + IDLE_SECONDS
                start_idle_work()
        except DatabaseError:
            log.exception("the worker lost the database; trying again")
            connection.close()
            seconds = RETRY_SECONDS
        stop.wait(seconds)


def start_idle_work() -> None:
    """Call the functions of settings.WHEN_IDLE up to the first that queues a job."""
    any(import_string(path)() is not None for path in settings.WHEN_IDLE)


def cut_off_later() -> None:
    """End the process after the grace period. Its transactions are rolled back and its locks released."""
    timer = threading.Timer(GRACE_SECONDS, os._exit, (1,))
    timer.daemon = True
    timer.start()


def run_waiting_jobs() -> None:
    """Run jobs until none is due."""
    while run_next_job():
        pass


def start_sweeper() -> None:
    threading.Thread(target=_sweep_for_ever, daemon=True, name="job-sweeper").start()


def _sweep_for_ever() -> None:
    chores_at = 0.0
    while True:
        try:
            lease.take_over_expired()
            clear_abandoned()
            clear_abandoned_steps()
            if time.monotonic() >= chores_at:
                chores_at = time.monotonic() + CHORE_SECONDS
                do_chores()
        except DatabaseError:
            log.exception("could not look for what was interrupted")
        close_old_connections()
        time.sleep(lease.LEASE.total_seconds() / 2)


def do_chores() -> None:
    """Call the functions in settings.CHORES. A failure is logged and does not stop the others."""
    for path in settings.CHORES:
        try:
            import_string(path)()
        except Exception:
            log.exception("the chore %s failed; it runs again in an hour", path)
