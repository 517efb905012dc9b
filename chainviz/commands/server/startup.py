"""What a process does before it serves pages or runs jobs: tables, static files, the first chains."""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from chainviz.commands.io.output import complain
from chainviz.commands.server import disk_reserve

if TYPE_CHECKING:
    from django.db.migrations.loader import MigrationLoader

# What django-htmx brings besides the htmx that our pages load.
UNUSED_STATIC = ["ext", "htmax-*", "htmx-4*"]


def set_up_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "chainviz.settings"
    import django

    django.setup()
    # the messages of a block live and go together: looking through them at every 700th took a fifth of an import's time
    gc.set_threshold(50_000, 20, 20)


def make_private() -> None:
    """The data folder, and every file this process and its children make, are for the person who runs it only."""
    from django.conf import settings

    os.umask(0o077)
    folder: Path = settings.CHAINVIZ.data
    with suppress(OSError):  # a folder that cannot be used is reported by the database
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


@contextmanager
def alone() -> Iterator[None]:
    """Several servers and workers that share a data folder prepare it one after the other."""
    from django.conf import settings

    with (settings.CHAINVIZ.data / "preparing").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def try_connection() -> None:
    """One direct attempt: the pool of PostgreSQL connections would try, and log, for half a minute."""
    import psycopg
    from django.db import connection

    if connection.vendor == "postgresql":
        psycopg.connect(**connection.get_connection_params(), connect_timeout=5).close()


def migrate_if_needed() -> bool:
    """Bring the tables up to date. Returns True when there were none, which is the very first start; raises NewerTables."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    refuse_newer_tables(executor.loader)
    is_first_start = not executor.loader.applied_migrations
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)
    return is_first_start


def refuse_newer_tables(loader: MigrationLoader) -> None:
    """Raise NewerTables where a later version of chainviz has migrated the database: this one could damage what it wrote."""
    known = set(loader.disk_migrations)
    known.update(name for migration in loader.disk_migrations.values() for name in migration.replaces)
    unknown = sorted(name for app, name in set(loader.applied_migrations) - known if app in loader.migrated_apps)
    if unknown:
        raise NewerTables(
            f"the database was written by a newer version of chainviz (migration {unknown[-1]}); install that version,"
            " or restore a backup made before the upgrade."
        )


class NewerTables(Exception):
    """The database has migrations that this version does not know."""


def collect_static_if_needed() -> None:
    """Files under hashed names, compressed, in the data folder: made again when a source file has changed."""
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


def load_samples() -> None:
    """Something to look at on the very first start; a library that its owner emptied stays empty."""
    if find_spec("chainviz.chains") is None:
        return
    samples = import_module("chainviz.chains.samples")
    if hasattr(samples, "load_samples"):
        samples.load_samples()


def judge_again_if_needed() -> None:
    """A job judges the stored chains again where the rules have changed since."""
    if find_spec("chainviz.chains") is not None:
        import_module("chainviz.chains.versions.judge_again").start_if_needed()


def release_connections() -> None:
    """Before a fork: two processes must not share a connection or a pool."""
    from django.db import connections

    for connection in connections.all():
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()


def prepare(*, with_samples: bool = True) -> bool:
    """Makes everything ready; False, and one line on standard error, when the database cannot be used.

    `with_samples`: a first start loads some chains to look at.
    """
    set_up_django()
    make_private()
    from django.db.utils import Error

    try:
        with alone():
            _prepare_tables(with_samples)
            release_connections()
            collect_static_if_needed()
    except NewerTables as error:
        complain(f"{error}")
        return False
    except (Error, OSError) as error:
        complain(_reason(error))
        return False
    return True


def _prepare_tables(with_samples: bool) -> None:
    from django.conf import settings
    from django.db import connection
    from django.db.utils import OperationalError

    from chainviz.store.full_disk import is_disk_full

    folder: Path = settings.CHAINVIZ.data
    try:
        with connection.wrap_database_errors:
            try_connection()
        is_first_start = migrate_if_needed()
    except OperationalError as error:
        if not (is_disk_full(error) and disk_reserve.give_up(folder)):
            raise
        is_first_start = migrate_if_needed()
    if is_first_start and with_samples:
        load_samples()
    disk_reserve.make(folder)


def _reason(error: Exception) -> str:
    from chainviz.store.full_disk import FULL, is_disk_full

    if is_disk_full(error):
        return f"{FULL} Free some space and start again."
    said = str(error).strip().splitlines()[0]
    return f"the database cannot be used: {said}. Check CHAINVIZ_DATA and CHAINVIZ_DATABASE_URL."
