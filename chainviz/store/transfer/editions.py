"""The edition of a history, held: no purge makes another one until the transaction ends, while others write as before."""

from __future__ import annotations

from django.db import connection

from chainviz.store.models import History

GONE = -1


def held_edition(history: int) -> int:
    """In a transaction; GONE where the chain was deleted for good. Foreign keys would not do: PostgreSQL looks at them, and
    locks, only at its end."""
    table = connection.ops.quote_name(History._meta.db_table)
    share = " FOR KEY SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT edition FROM {table} WHERE id = %s{share}", [history])
        row = cursor.fetchone()
    return int(row[0]) if row else GONE
