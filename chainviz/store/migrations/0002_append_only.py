"""Makes the tables append-only, see append_only.py."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from chainviz.store import append_only


def protect(apps: Any, schema_editor: Any) -> None:
    append_only.protect(schema_editor)


def unprotect(apps: Any, schema_editor: Any) -> None:
    append_only.unprotect(schema_editor)
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION store_append_only()")


class Migration(migrations.Migration):
    dependencies = [("store", "0001_initial")]

    operations = [migrations.RunPython(protect, unprotect)]
