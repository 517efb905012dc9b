"""The triggers that make tables append-only: the database itself refuses to change or delete their rows.

Only a transaction that holds a row in `store_purge` may do so (purge/delete.py writes it first and removes it last, so
that no other transaction sees it). SQLite remakes a table, and silently drops its triggers, when a migration adds a column
that is not nullable, or alters or removes one: such a migration ends with `migrations.RunPython(protect_again(...))`.
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
"""What `migrations.RunPython` calls with the apps and the schema editor."""


def protect(schema_editor: Any, tables: Sequence[str] = TABLES, prefix: str = "store_") -> None:
    """Creates the triggers of these tables, named without their app's prefix; those that exist are replaced."""
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
    """Return the last operation of a migration that makes or remakes these tables; without names, those of the store."""
    return lambda apps, schema_editor: protect(schema_editor, tables or TABLES, prefix)
