"""Tests with real transactions end with a flush, which the append-only tables refuse on SQLite (PostgreSQL truncates)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.testcases import TransactionTestCase

from chainviz.store.append_only import protect, unprotect

OTHERS = (("auditrow", "accounts_"), ("signoff", "review_"))
"""Protected tables outside the store, and what their names begin with."""


@pytest.fixture(scope="session", autouse=True)
def store_can_be_flushed() -> Iterator[None]:
    flush = TransactionTestCase._fixture_teardown

    def unprotected_flush(self: Any) -> None:
        if connection.vendor != "sqlite":
            flush(self)
            return
        with connection.schema_editor() as editor:
            unprotect(editor)
            for table, prefix in OTHERS:
                unprotect(editor, [table], prefix)
        flush(self)
        with connection.schema_editor() as editor:
            protect(editor)
            for table, prefix in OTHERS:
                protect(editor, [table], prefix)

    TransactionTestCase._fixture_teardown = unprotected_flush  # type: ignore[method-assign]
    yield
    TransactionTestCase._fixture_teardown = flush  # type: ignore[method-assign]
