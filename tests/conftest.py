"""What all tests share: the database, the examples of property tests and the garbage collector."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from django.conf import settings

from chainviz.chains.library import sessions as library_sums
from chainviz.chains.overview import overview_page as overview
from chainviz.sessions_index import services
from chainviz.store.content.at_hand import forget
from tests.empty_database import django_db_keepdb, django_db_modify_db_settings, migrated  # noqa: F401
from tests.examples import load_profile
from tests.store.emptying import tables_are_emptied  # noqa: F401

# pytest-playwright runs an event loop in the thread of the test; Django would refuse the ORM there.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

load_profile()


@pytest.fixture(autouse=True)
def purges_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the database keep the room that other tests filled; a purge would wait for a worker because of them."""
    monkeypatch.setattr("chainviz.purge.jobs.FILES_AT_ONCE", 1 << 60)


@pytest.fixture(autouse=True)
def no_request_runs_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests leave the rest of long work to the next request after a time, which a loaded machine would reach early."""
    for limit in ("library.saved_filters.AT_ONCE", "folders.opening.AT_ONCE", "folders.listing.GLANCES"):
        monkeypatch.setattr(f"chainviz.chains.{limit}", 3600.0)


@pytest.fixture(autouse=True)
def nothing_is_kept() -> None:
    """A process keeps sums and drawings by keys of rows and their content, which two tests' databases may share."""
    forget()
    for each in (library_sums._results_of, services._progress_sums, services._faults, overview._known_page):
        each.cache_clear()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m database`, files without that mark are not even imported."""
    if config.getoption("markexpr") != "database" or collection_path.suffix != ".py":
        return None
    return b"mark.database" not in collection_path.read_bytes() or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not settings.POSTGRESQL:
        return
    reason = postgresql_is_missing()
    if not reason:
        return
    if settings.POSTGRESQL == "required":
        pytest.exit(reason, returncode=1)
    for item in items:
        item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """Collects garbage as seldom as the product does (commands/server/startup.py), and never among thousands of tests: that
    was a tenth of all processor time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def postgresql_is_missing() -> str:
    import psycopg

    try:
        psycopg.connect(settings.POSTGRESQL_URL, dbname="postgres", connect_timeout=30).close()
    except psycopg.OperationalError as error:
        return f"no PostgreSQL answers at CHAINVIZ_TEST_DATABASE_URL: {str(error).splitlines()[0]}"
    return ""
