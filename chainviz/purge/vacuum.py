"""The bytes leave the database's files too: what a transaction frees stays in a log, or in free space, else."""

from __future__ import annotations

import logging
import time

from django.apps import apps
from django.db import DatabaseError, connection

from chainviz.purge.app_tables import LABELS, models_of
from chainviz.store.purge.write_ahead_log import empty_log

TRIES = 5
PAUSE = 1.0
PATIENCE = "5s"
"""How long a table of PostgreSQL is waited for: everybody else waits behind it."""
WAITS = 10
OLDER = """SELECT pg_snapshot_xmin(pg_current_snapshot()) <= %(now)s::xid8 OR EXISTS (
 SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
 AND age(backend_xmin) > age(%(now)s::xid8::xid))"""
"""Whether a transaction from before `now` still writes in any database of the server, or reads in this one: VACUUM keeps
the rows that those could see, and even its own snapshot reaches back to the oldest writer anywhere."""
CLEAN, LOGGED, BUSY = "clean", "logged", "busy"
LEFT = {
    CLEAN: "",
    LOGGED: "PostgreSQL’s write-ahead log may hold old bytes until the server overwrites its segments, and so may archives of"
    " it, replicas and backups made before. A superuser shortens it with CHECKPOINT; SELECT pg_switch_wal(); CHECKPOINT;",
    BUSY: "The database was busy, so freed space in its files may hold old bytes until the next purge or a VACUUM.",
}
"""What remains outside of the tables, as a sentence."""
log = logging.getLogger(__name__)


def settle() -> str:
    """CLEAN, LOGGED or BUSY. Outside of any transaction."""
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
        time.sleep(PAUSE)
    return BUSY


def _vacuum_file() -> bool:
    """False where a reader keeps the log of SQLite from being emptied."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
    return empty_log()


def _vacuum_tables() -> str:
    """BUSY where an older transaction may still read the old rows: VACUUM leaves them in their place then."""
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
    """Waits for the transactions that began before now, as far as this role may see them; autovacuum’s are among them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        (now,) = cursor.fetchone()
        for _ in range(WAITS):
            cursor.execute(OLDER, {"now": now})
            if cursor.fetchone() == (False,):
                return True
            time.sleep(PAUSE)
    return False


def _where_permitted(*statements: str) -> None:
    """An ordinary role may do none of these; values then stay longer in the log, and the page says so."""
    for statement in statements:
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
        except DatabaseError as refused:
            log.info("after a purge, %s was refused: %s", statement, type(refused).__name__)
