"""The two jobs: looking what would go, and the purge. Small ones are over before the page is answered."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import Q, Sum

from chainviz.accounts import audit as audit_log
from chainviz.accounts.models import Team, User
from chainviz.chains import audit as audit
from chainviz.chains.models import Chain
from chainviz.chains.versions.heads import judge
from chainviz.core.errors import Refused
from chainviz.jobs import lease
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, run_job, start_job
from chainviz.purge.values import LABELS, blank_rows, models_of, places_in_rows, prefilled, requested_values, waiting_files
from chainviz.store.models import Upload
from chainviz.store.purge.blanking import Blanks
from chainviz.store.purge.delete import empty_log
from chainviz.store.purge.values import family, others_with, purge_values, reach

AT_ONCE = 16_000_000
"""The most bytes of a team's uploads with which nobody has to wait for a worker …"""
FILES_AT_ONCE = 64_000_000
"""The largest files of the database, in bytes, that a purge without a job rewrites."""
ATTEMPTS = 3
WAITS, PAUSE = 30, 0.1
UNFINISHED = (Job.State.QUEUED, Job.State.RUNNING)
LOOK = "count-before-purge"
PURGE = "purge"
WRITING = 0.05
"""The share of a purge after which it cannot be stopped."""


def start_look(chain: Chain, values: str, paths: str, *, by: User) -> Job:
    requested_values(chain, values, paths)
    forget_typed(chain)
    return _begun(chain, start_job(LOOK, owner=by, chain=chain.pk, values=values, paths=paths))


def start_purge(chain: Chain, values: str, paths: str, also: Iterable[int], *, by: User) -> Job:
    requested_values(chain, values, paths)
    given = {"chain": chain.pk, "values": values, "paths": paths, "also": sorted(also)}
    return _begun(chain, start_job(PURGE, owner=by, max_attempts=ATTEMPTS, **given))


def start_masked(chain: Chain, version: int, *, by: User) -> Job:
    """Queue the purge of what was masked up to a version. The values are read when it runs: the job never contains
    them, so the purge of another chain that runs before cannot blank them here."""
    return start_job(PURGE, owner=by, max_attempts=ATTEMPTS, chain=chain.pk, masked=version)


def _begun(chain: Chain, job: Job) -> Job:
    if _is_small(chain.team):
        run_job(job.pk)
        job.refresh_from_db()
        for _ in range(0 if job.is_finished else WAITS):
            # a worker was faster in taking it up
            time.sleep(PAUSE)
            job.refresh_from_db()
            if job.is_finished:
                break
    return job


def _is_small(team: Team) -> bool:
    held = Upload.objects.filter(owner=team.store_name).aggregate(total=Sum("length"))["total"] or 0
    return held <= AT_ONCE and _files_size() <= FILES_AT_ONCE


def _files_size() -> int:
    sizes = {
        "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        "postgresql": "SELECT pg_database_size(current_database())",
    }
    with connection.cursor() as cursor:
        cursor.execute(sizes[connection.vendor])
        return int(cursor.fetchone()[0])


def job_of(chain: Chain, user: User, number: int | None = None) -> Job | None:
    """Return the person's look or purge of that number, else the one under way."""
    jobs = Job.objects.about(chain).visible_to(user).filter(function__in=(LOOK, PURGE)).order_by("-pk")
    if number is not None:
        return jobs.filter(pk=number).first()
    return jobs.filter(state__in=UNFINISHED).first()


def can_stop(job: Job) -> bool:
    """Return True for a search at any time, and for a purge until it writes."""
    return job.function == LOOK or job.progress < WRITING


def forget_typed(chain: Chain) -> None:
    """Delete looks, and purges that failed, since they contain the typed values; a running look ends at its next report."""
    under_way = Q(function=PURGE, state__in=UNFINISHED)
    Job.objects.about(chain).filter(function__in=(LOOK, PURGE)).exclude(under_way).delete()


def look(context: JobContext, chain: int, values: str, paths: str) -> dict[str, Any]:
    """Count the places, and name the chains: those of the same files, and others that contain a value too."""
    row = _chain(chain)
    searched = requested_values(row, values, paths)
    found = reach((row.history,), searched, lambda done, text: context.report(done / 2, f"This chain: {text}"))
    others = others_with(
        row.team.store_name, found.uploads, searched, lambda done, text: context.report(0.5 + done / 2, f"Other chains: {text}")
    )
    return {
        "values": len(searched),
        "places": found.places + places_in_rows(found.histories, searched),
        "files": waiting_files(row, searched),
        "family": _keys(found.histories),
        "others": [[keys, each.places] for each in others if (keys := _keys(each.histories))],
    }


def _keys(histories: Iterable[int]) -> list[int]:
    return list(Chain.objects.filter(history__in=histories).order_by("pk").values_list("pk", flat=True))


def purge(
    context: JobContext,
    chain: int,
    values: str = "",
    paths: str = "",
    also: Iterable[int] = (),
    masked: int = 0,
    done: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """`masked`: the version up to which masked values are purged, instead of those typed. `done` is there when an attempt
    before ended behind its transaction: only the files are left to clean then.

    Returns the places blanked, those that a second search found (None if the values are forgotten already), and what
    the files of the database may still hold.
    """
    again = None
    if done is None:
        row = _chain(chain)
        values = prefilled(row, masked).values if masked else values
        if masked and not values:
            # the purge of another chain with the same bytes was faster
            return {"places": 0, "left": CLEAN, "again": 0}
        searched = requested_values(row, values, paths)
        context.report(WRITING, "Blanking the values; this can no longer be stopped")
        done = _carry_out(context.job, row, searched, also)
        context.report(0.3, "Blanked; searching again")
        found = reach((row.history,), searched)
        again = found.places + places_in_rows(found.histories, searched)
    context.report(0.4, "Blanked; reading the chains again")
    for key in done["chains"]:
        judge(key)
    context.report(0.8, "Cleaning up the database files")
    left = settle()
    for entry in done["entries"]:
        audit.add(entry, left=LEFT[left])
    return {"places": done["places"], "left": left, "again": again}


def _chain(key: int) -> Chain:
    chain = Chain.objects.filter(pk=key).first()
    if chain is None:
        raise Refused("The chain was deleted permanently meanwhile.")
    return chain


@transaction.atomic
def _carry_out(job: Job, chain: Chain, values: tuple[str, ...], also: Iterable[int]) -> dict[str, Any]:
    """Blank every chain that shares an upload, and record the act, but not the values. The job is part of it: from now
    on it contains no value, and a worker that takes it over knows that this is done."""
    chosen = Chain.objects.filter(team=chain.team_id, pk__in=list(also)).values_list("history", flat=True)
    histories = family((chain.history, *chosen)).histories
    in_rows = places_in_rows(histories, values)
    found, renamed = purge_values(histories, values, reason="values purged")
    places = found.places + in_rows
    chains = blank_rows(found, renamed, Blanks(values))
    forget_typed(chain)
    record = {"values": len(values), "places": places, "chains": [each.pk for each in chains]}
    if settings.CHAINVIZ.mode == "team":
        audit_log.record(chain.team, job.owner, "purged", chain=chain.pk, values=len(values), places=places)
    entries = [audit.note(each, job.owner, "purge", record).pk for each in chains]
    done = {"places": places, "chains": record["chains"], "entries": entries}
    told = {"args": {"chain": chain.pk, "done": done}, "cancel_requested": False}
    if not lease.leased_row(job).update(**told) or not lease.beat(job):
        raise Cancelled
    return done


# The bytes leave the database's files too: what a transaction frees stays in a log, or in free space, else.


TRIES = 5
VACUUM_PAUSE = 1.0
PATIENCE = "5s"
"""The longest wait for a table of PostgreSQL, since everybody else waits behind it."""
VACUUM_WAITS = 10
OLDER = """SELECT pg_snapshot_xmin(pg_current_snapshot()) <= %(now)s::xid8 OR EXISTS (
 SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
 AND age(backend_xmin) > age(%(now)s::xid8::xid))"""
"""True if a transaction from before `now` still writes in any database of the server, or reads in this one: VACUUM
keeps the rows that those could see, and even its own snapshot reaches back to the oldest writer anywhere."""
CLEAN, LOGGED, BUSY = "clean", "logged", "busy"
LEFT = {
    CLEAN: "",
    LOGGED: "PostgreSQL’s write-ahead log may hold old bytes until the server overwrites its segments, and so may archives of"
    " it, replicas and backups made before. A superuser shortens it with CHECKPOINT; SELECT pg_switch_wal(); CHECKPOINT;",
    BUSY: "The database was busy, so freed space in its files may hold old bytes until the next purge or a VACUUM.",
}
"""Sentences on what remains outside the tables."""
log = logging.getLogger(__name__)


def settle() -> str:
    """Clean the files of the database outside any transaction, and return CLEAN, LOGGED or BUSY."""
    for attempt in range(TRIES):
        try:
            if connection.vendor != "sqlite":
                return _vacuum_tables()
            if _vacuum_file():
                return CLEAN
        except DatabaseError:
            log.warning("the database could not be vacuumed after a purge, attempt %d", attempt + 1, exc_info=True)
            if connection.in_atomic_block:
                break
        time.sleep(VACUUM_PAUSE)
    return BUSY


def _vacuum_file() -> bool:
    """Rewrite the file of SQLite. Return False if a reader prevents emptying its log."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    return empty_log()


def _vacuum_tables() -> str:
    """Vacuum the tables of PostgreSQL. Return BUSY if an older transaction may still read the old rows, which VACUUM leaves then."""
    rows_go = _older_are_over()
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, false)", [PATIENCE])
        try:
            for label in ("store", *LABELS):
                for model in models_of(label) if apps.is_installed(f"chainviz.{label}") else ():
                    # with statistics: they quote frequent values of columns
                    cursor.execute(f"VACUUM (FULL, ANALYZE) {connection.ops.quote_name(model._meta.db_table)}")
            statistics_go = _older_are_over()  # an ANALYZE of autovacuum may have begun meanwhile
            _where_permitted("VACUUM (FULL) pg_statistic", "CHECKPOINT", "SELECT pg_switch_wal()", "CHECKPOINT")
        finally:
            cursor.execute("SELECT set_config('lock_timeout', '0', false)")
    return LOGGED if rows_go and statistics_go else BUSY


def _older_are_over() -> bool:
    """Wait for the transactions that began before now, as far as this role may see them, including those of autovacuum."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        (now,) = cursor.fetchone()
        for _ in range(VACUUM_WAITS):
            cursor.execute(OLDER, {"now": now})
            if cursor.fetchone() == (False,):
                return True
            time.sleep(VACUUM_PAUSE)
    return False


def _where_permitted(*statements: str) -> None:
    """Run statements that an ordinary role may not run. Without them values stay longer in the log, and the page says so."""
    for statement in statements:
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        except DatabaseError as refused:
            log.info("after a purge, %s was refused: %s", statement, type(refused).__name__)
