"""The triggers that make tables append-only: the database itself refuses to change or delete their rows.

Only a transaction with a row in `store_purge` may change or delete rows. purge/delete.py writes that row first and removes it last, so
no other transaction sees it. When a migration adds a column that is not nullable, or alters or removes a column, SQLite recreates
the table without its triggers. Such a migration must end with `migrations.RunPython(protect_again(...))`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

TABLES = ("upload", "uploadchunk", "run", "template", "message", "body", "snapshot", "version")
EVENTS = ("update", "delete")
FUNCTION = """
CREATE OR REPLACE FUNCTION store_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM store_purge) THEN
        RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' is append-only', ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$
"""

Operation = Callable[[Any, Any], None]
"""A function for `migrations.RunPython`, which calls it with the apps and the schema editor."""


def protect(schema_editor: Any, tables: Sequence[str] = TABLES, prefix: str = "store_") -> None:
    """Create or replace the triggers of these tables. Table names are given without `prefix`."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION)
    unprotect(schema_editor, tables, prefix)
    for table in tables:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {prefix}{table}"
                " FOR EACH ROW EXECUTE FUNCTION store_append_only()"
            )
            continue
        for event in EVENTS:
            schema_editor.execute(
                f"CREATE TRIGGER {prefix}{table}_no_{event} BEFORE {event} ON {prefix}{table}"
                " WHEN NOT EXISTS (SELECT 1 FROM store_purge)"
                f" BEGIN SELECT RAISE(ABORT, '{prefix}{table} is append-only'); END"
            )


def unprotect(schema_editor: Any, tables: Sequence[str] = TABLES, prefix: str = "store_") -> None:
    for table in tables:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER IF EXISTS append_only ON {prefix}{table}")
            continue
        for event in EVENTS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {prefix}{table}_no_{event}")


def protect_again(*tables: str, prefix: str = "store_") -> Operation:
    """Return the operation that ends a migration which creates or recreates these tables; without names, all tables of the store."""
    return lambda apps, schema_editor: protect(schema_editor, tables or TABLES, prefix)
