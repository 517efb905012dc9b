"""Many rows of one table at once, past the ORM: an import writes a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, models


def insert_many(model: type[models.Model], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    names = ", ".join(map(quote, columns))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(rows))
