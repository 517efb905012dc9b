"""What all tests share: which database, and a browser that fails a test on anything a person would call broken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from hypothesis import settings as hypothesis_settings

from tests import chromium
from tests.store.emptying import store_can_be_flushed  # noqa: F401

# pytest-playwright runs an event loop in the thread of the test; Django would refuse the ORM there.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# A slow moment of a busy machine is no fault of the code.
# Where a red run blocks others the examples are the same each time; at a desk they are always new ones.
hypothesis_settings.register_profile("chainviz", deadline=None, derandomize="CI" in os.environ)
hypothesis_settings.load_profile("chainviz")


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


def postgresql_is_missing() -> str:
    import psycopg

    try:
        psycopg.connect(settings.POSTGRESQL_URL, dbname="postgres", connect_timeout=3).close()
    except psycopg.OperationalError as error:
        return f"no PostgreSQL answers at CHAINVIZ_TEST_DATABASE_URL: {str(error).splitlines()[0]}"
    return ""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {**browser_type_launch_args, **chromium.launch_arguments()}


@pytest.fixture
def faults() -> list[str]:
    """What went wrong in the browser so far. A test that provokes a fault removes it from here."""
    return []


@pytest.fixture
def context(context: Any, live_server: Any, faults: list[str]) -> Iterator[Any]:
    """Every page of the test is watched: console errors (violations of the content security policy are such), errors
    of scripts, and any request to another origin."""

    def watch_request(request: Any) -> None:
        if not request.url.startswith((live_server.url + "/", "data:", "blob:", "about:")):
            faults.append(f"request to another origin: {request.url}")

    context.on("console", lambda said: faults.append(f"console: {said.text}") if said.type == "error" else None)
    context.on("weberror", lambda error: faults.append(f"script error: {error.error}"))
    context.on("request", watch_request)
    yield context
    assert faults == []
