"""Makes the audit log append-only, see store/append_only.py."""

from django.db import migrations

from chainviz.store import append_only

TABLES = ("auditrow",)


def protect(apps, schema_editor):
    append_only.protect(schema_editor, TABLES, "accounts_")


def unprotect(apps, schema_editor):
    append_only.unprotect(schema_editor, TABLES, "accounts_")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_audit_log"), ("store", "0002_append_only")]

    operations = [migrations.RunPython(protect, unprotect)]
