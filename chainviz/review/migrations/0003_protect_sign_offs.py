"""Makes the sign-offs append-only, see store/append_only.py."""

from typing import Any

from django.db import migrations

from chainviz.store import append_only

TABLES = ("signoff",)


def protect(apps: Any, schema_editor: Any) -> None:
    append_only.protect(schema_editor, TABLES, "review_")


def unprotect(apps: Any, schema_editor: Any) -> None:
    append_only.unprotect(schema_editor, TABLES, "review_")


class Migration(migrations.Migration):
    dependencies = [("review", "0002_requests"), ("store", "0002_append_only")]

    operations = [migrations.RunPython(protect, unprotect)]
