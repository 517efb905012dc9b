"""Fills the checksums of rows of earlier versions, and counts the entries of each audit."""

from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import Count

from chainviz.store.checksums import fill_checksums


def fill(apps: Any, schema_editor: Any) -> None:
    logs, entries = (apps.get_model("chains", name).objects for name in ("AuditLog", "AuditEntry"))
    for row in entries.order_by().values("chain_key").annotate(entries=Count("pk")):
        logs.create(**row)
    for name in ("Chain", "AuditEntry", "AuditLog"):
        fill_checksums(apps.get_model("chains", name).objects)


class Migration(migrations.Migration):
    dependencies = [("chains", "0009_checksums")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
