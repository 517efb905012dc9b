"""Tests with real transactions end with a flush, which the append-only tables refuse on SQLite (PostgreSQL truncates)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.test.testcases import TransactionTestCase

append_only = import_module("chainviz.store.migrations.0002_append_only")


@pytest.fixture(scope="session", autouse=True)
def store_can_be_flushed() -> Iterator[None]:
    flush = TransactionTestCase._fixture_teardown

    def unprotected_flush(self: Any) -> None:
        if connection.vendor != "sqlite":
            flush(self)
            return
        with connection.schema_editor() as editor:
            append_only.unprotect(None, editor)
        flush(self)
        with connection.schema_editor() as editor:
            append_only.protect(None, editor)

    TransactionTestCase._fixture_teardown = unprotected_flush  # type: ignore[method-assign]
    yield
    TransactionTestCase._fixture_teardown = flush  # type: ignore[method-assign]
