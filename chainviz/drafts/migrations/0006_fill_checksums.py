"""Fills the checksums of drafts of earlier versions."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from chainviz.store.checksums import fill_checksums


def fill(apps: Any, schema_editor: Any) -> None:
    fill_checksums(apps.get_model("drafts", "Draft").objects)


class Migration(migrations.Migration):
    dependencies = [("drafts", "0005_checksums")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
