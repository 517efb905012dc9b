"""Fills the checksums of rows of earlier versions, inside the purge guard."""

from __future__ import annotations

from typing import Any

from django.db import migrations

from chainviz.store.checksums import fill_checksums
from chainviz.store.content.run_checksums import stored_hash


def fill(apps: Any, schema_editor: Any) -> None:
    purge = apps.get_model("store", "Purge").objects.create(reason="filling checksums")
    for name in ("Upload", "Run", "Template", "Snapshot", "Version"):
        fill_checksums(apps.get_model("store", name).objects, with_key=False)
    fill_checksums(apps.get_model("store", "History").objects)
    fill_checksums(apps.get_model("store", "Draft").objects, _steps)
    whole = apps.get_model("store", "Run").objects.filter(history__importing=None, writing=None)
    for key in list(whole.values_list("pk", flat=True)):
        apps.get_model("store", "RunChecksum").objects.create(run_id=key, digest=stored_hash(key))
    purge.delete()


def _steps(draft: Any) -> Any:
    return draft.steps.order_by("position").values_list("pk", "position", "snapshot")


class Migration(migrations.Migration):
    dependencies = [("store", "0008_checksums")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
