"""Tests with real transactions end with empty tables. Django's flush empties and refills every table; this, those with rows.

The append-only tables let a purge delete, so this is one. Content types and permissions stay as the migrations made them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import connection, transaction
from django.test.testcases import TransactionTestCase

from chainviz.store.models import Purge

KEPT = ("django_content_type", "auth_permission")


@pytest.fixture(scope="session", autouse=True)
def tables_are_emptied() -> Iterator[None]:
    flush = TransactionTestCase._fixture_teardown
    TransactionTestCase._fixture_teardown = lambda self: empty_tables()  # type: ignore[method-assign]
    yield
    TransactionTestCase._fixture_teardown = flush  # type: ignore[method-assign]


@transaction.atomic
def empty_tables() -> None:
    purges = Purge._meta.db_table
    filled = _tables_with_rows()
    Purge.objects.create(reason="end of a test")
    with connection.cursor() as cursor:
        for table in [table for table in filled if table != purges] + [purges]:
            cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")


def _tables_with_rows() -> list[str]:
    tables = [table for table in connection.introspection.django_table_names(include_views=False) if table not in KEPT]
    rows = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table})" for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(rows)
        return [table for (table,) in cursor.fetchall()]
