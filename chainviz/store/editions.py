"""The edition of a history, held: no purge makes another one until the transaction ends, while others write as before."""

from __future__ import annotations

from django.db import connection

from chainviz.store.models import History


def held_edition(history: int) -> int:
    """In a transaction. Foreign keys would not do: PostgreSQL looks at them, and locks, only at its end."""
    table = connection.ops.quote_name(History._meta.db_table)
    share = " FOR KEY SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT edition FROM {table} WHERE id = %s{share}", [history])
        return int(cursor.fetchone()[0])
