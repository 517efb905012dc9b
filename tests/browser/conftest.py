"""A browser that is patient, and fails a test on anything a person would call broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import chromium
from tests.browser import shots
from tests.own_data import own_data_folder  # noqa: F401
from tests.waiting import PATIENCE

REPLACED = ("htmx:afterRequest", "htmx:sendAbort")
"""What htmx logs when a newer request or another page replaces one that is under way; one that fails says sendError."""
expect.set_options(timeout=1000 * PATIENCE)


def pytest_sessionfinish() -> None:
    if shots.FOLDER:
        shots.write_index()


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

    def hear(said: Any) -> None:
        if said.type == "error" and not said.text.startswith(REPLACED):
            faults.append(f"console: {said.text}")

    def watch_request(request: Any) -> None:
        if not request.url.startswith((live_server.url + "/", "data:", "blob:", "about:")):
            faults.append(f"request to another origin: {request.url}")

    context.set_default_timeout(1000 * PATIENCE)
    context.on("console", hear)
    context.on("weberror", lambda error: faults.append(f"script error: {error.error}"))
    context.on("request", watch_request)
    yield context
    assert faults == []


@pytest.fixture
def plain_page(browser: Any) -> Iterator[Any]:
    """Of a browser without scripts."""
    with browser.new_context(java_script_enabled=False) as context:
        context.set_default_timeout(1000 * PATIENCE)
        yield context.new_page()
