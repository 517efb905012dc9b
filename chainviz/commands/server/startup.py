"""Prepare a process that serves pages or runs jobs: database tables, static files, and a reserve of disk space."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import json
import logging
import os
import shutil
import socket
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from chainviz.commands.io import complain, tell
from chainviz.settings import CHAINVIZ

RESERVE = "reserve"
RESERVE_SIZE = 1_000_000
"""The size in bytes of a file that is deleted when chainviz starts on a full disk, because SQLite needs some space before it can read."""
AMPLE = 10 * RESERVE_SIZE
"""The least free space, in bytes, at which the reserve is created."""
NEEDED = 100_000
"""The least free space, in bytes, for the processes of a server. SQLite ends a process that cannot extend its shared memory."""
# Files of django-htmx that our pages do not load.
UNUSED_STATIC = ["ext", "htmax-*", "htmx-4*"]


def set_up_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "chainviz.settings"
    import django

    django.setup()
    # garbage collection at every 700th object took a fifth of an import's time, although the messages of a block are freed together
    gc.set_threshold(50_000, 20, 20)


def announce(sentence: str) -> None:
    """Print a sentence for the person who starts a process; as a line of JSON if the log is JSON."""
    from django.conf import settings

    from chainviz.web.logs import JsonFormatter

    record = logging.LogRecord("chainviz", logging.INFO, "", 0, sentence, None, None)
    tell([JsonFormatter().format(record) if settings.CHAINVIZ.log == "json" else sentence])


def make_private() -> None:
    """Make the data folder, and all files of this process and its children, readable only by their owner."""
    from django.conf import settings

    os.umask(0o077)
    folder: Path = settings.CHAINVIZ.data
    with suppress(OSError):  # the database reports a folder that cannot be used
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


@contextmanager
def alone() -> Iterator[None]:
    """Hold a lock on the data folder, so that several servers and workers prepare it one by one."""
    from django.conf import settings

    with (settings.CHAINVIZ.data / "preparing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def try_connection() -> None:
    """Try one direct connection, because the pool of PostgreSQL connections would retry, and log, for half a minute."""
    import psycopg
    from django.db import connection

    if connection.vendor == "postgresql":
        psycopg.connect(**connection.get_connection_params(), connect_timeout=5).close()


def migrate_if_needed() -> None:
    """Bring the tables up to date. Raises OtherTables."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor
    from django.db.migrations.recorder import MigrationRecorder

    refuse_other_tables(MigrationRecorder(connection).applied_migrations())
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)


def refuse_other_tables(applied: Collection[tuple[str, str]]) -> None:
    """Raise OtherTables unless this version can migrate from the applied migrations, which are pairs of app and name.

    This version could damage the data of a later one, and it lacks the migrations from before version 0.1.0.
    """
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(None)
    known = set(loader.disk_migrations)
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)
        if migration.replaces and 0 < len(set(migration.replaces) & set(applied)) < len(migration.replaces):
            raise OtherTables(
                "the database was written by a version of chainviz before 0.1.0; start version 0.1.0 with it once, then this one."
            )
    unknown = sorted(name for app, name in set(applied) - known if app in loader.migrated_apps)
    if unknown:
        raise OtherTables(
            f"the database was written by a newer version of chainviz (migration {unknown[-1]}); install that version,"
            " or restore a backup made before the upgrade."
        )


class OtherTables(Exception):
    """Raised if the database is too new or too old for this version."""


def collect_static_if_needed() -> None:
    """Write the static files, compressed and with hashed names, into the data folder, if a source file has changed."""
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders
    from django.core.management import call_command

    root = Path(settings.STATIC_ROOT)
    stamp = root / ".sources"
    seen = hashlib.sha256()
    for finder in get_finders():
        for path, storage in sorted(finder.list(UNUSED_STATIC), key=lambda found: found[0]):
            stat = Path(storage.path(path)).stat()
            seen.update(f"{storage.path(path)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    if stamp.exists() and stamp.read_text() == seen.hexdigest():
        return
    shutil.rmtree(root, ignore_errors=True)
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=UNUSED_STATIC)
    stamp.write_text(seen.hexdigest())


def judge_again_if_needed() -> None:
    """Start a job that checks the stored chains again if the rules have changed."""
    if find_spec("chainviz.chains") is not None:
        import_module("chainviz.chains.versions.heads").start_if_needed()


def release_connections() -> None:
    """Close connections before a fork, because two processes must not share a connection or a pool."""
    from django.db import connections

    for connection in connections.all():
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()


def prepare() -> bool:
    """Prepare the process. Return False, with one line on standard error, if the database cannot be used."""
    set_up_django()
    make_private()
    from django.db.utils import Error

    try:
        with alone():
            _prepare_tables()
            release_connections()
            collect_static_if_needed()
    except OtherTables as error:
        complain(f"{error}")
        return False
    except (Error, OSError) as error:
        complain(_reason(error))
        return False
    return True


def _prepare_tables() -> None:
    from django.conf import settings
    from django.db import connection
    from django.db.utils import OperationalError

    from chainviz.store.errors import is_disk_full

    folder: Path = settings.CHAINVIZ.data
    try:
        with connection.wrap_database_errors:
            try_connection()
        migrate_if_needed()
    except OperationalError as error:
        if not (is_disk_full(error) and give_up_reserve(folder)):
            raise
        migrate_if_needed()
    make_or_use_reserve(folder)


def _reason(error: Exception) -> str:
    from chainviz.store.errors import FULL, is_disk_full

    if is_disk_full(error):
        return f"{FULL} Free some space and start again."
    said = str(error).strip().splitlines()[0]
    return f"the database cannot be used: {said}. Check CHAINVIZ_DATA and CHAINVIZ_DATABASE_URL."


def make_or_use_reserve(folder: Path) -> None:
    """Create the reserve if there is enough free space. Delete it if there is too little for the processes to start."""
    free = shutil.disk_usage(folder).free
    if free < NEEDED:
        give_up_reserve(folder)
    elif free > AMPLE and not (folder / RESERVE).exists():
        with suppress(OSError):
            (folder / RESERVE).write_bytes(bytes(RESERVE_SIZE))


def give_up_reserve(folder: Path) -> bool:
    """Delete the reserve; return whether there was one."""
    path = folder / RESERVE
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


SECONDS = 2.0
"""The most seconds to wait for a connection on this machine."""


def _note() -> Path:
    return CHAINVIZ.data / "serving.json"


def note_server(host: str, port: int, url: str) -> None:
    with suppress(OSError):  # the server also runs on a full disk
        _note().write_text(json.dumps({"host": host, "port": port, "url": url}))


def forget_server() -> None:
    with suppress(OSError):
        _note().unlink()


def running_url() -> str:
    """Return the address of the running server; "" if no server answers, because a killed server leaves its file."""
    try:
        found = json.loads(_note().read_text())
        with socket.create_connection((found["host"], found["port"]), timeout=SECONDS):
            return str(found["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
