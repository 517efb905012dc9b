"""What was stored stays as it is: the database itself refuses to change or delete it.

Only a transaction that holds a row in `store_purge` may (purge.py writes it first and takes it away last, so no other
transaction ever sees it). A later migration that makes one of these tables anew on SQLite has to run `protect` again.
"""

from __future__ import annotations

from typing import Any

from django.db import migrations

TABLES = ["upload", "uploadchunk", "run", "template", "message", "body", "snapshot", "version"]

FUNCTION = """
CREATE OR REPLACE FUNCTION store_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM store_purge) THEN
        RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' is append-only', ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$
"""


def protect(apps: Any, schema_editor: Any) -> None:
    vendor = schema_editor.connection.vendor
    if vendor == "postgresql":
        schema_editor.execute(FUNCTION)
    for table in TABLES:
        if vendor == "postgresql":
            schema_editor.execute(
                f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON store_{table}"
                " FOR EACH ROW EXECUTE FUNCTION store_append_only()"
            )
            continue
        for event in ("UPDATE", "DELETE"):
            schema_editor.execute(
                f"CREATE TRIGGER store_{table}_no_{event.lower()} BEFORE {event} ON store_{table}"
                " WHEN NOT EXISTS (SELECT 1 FROM store_purge)"
                f" BEGIN SELECT RAISE(ABORT, 'store_{table} is append-only'); END"
            )


def unprotect(apps: Any, schema_editor: Any) -> None:
    vendor = schema_editor.connection.vendor
    for table in TABLES:
        if vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER append_only ON store_{table}")
            continue
        for event in ("update", "delete"):
            schema_editor.execute(f"DROP TRIGGER store_{table}_no_{event}")
    if vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION store_append_only()")


class Migration(migrations.Migration):
    dependencies = [("store", "0001_initial")]

    operations = [migrations.RunPython(protect, unprotect)]
