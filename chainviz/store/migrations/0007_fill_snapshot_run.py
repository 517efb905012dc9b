"""Fills Snapshot.run for snapshots of earlier versions, inside the purge guard.

The run of an import or a copy is the only one it lists. The run of a step is the newest one that its splices insert or, of
a full list of pieces, the newest one that no list or splice before it names. A step that only removed messages stays null.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from django.db import migrations


def fill(apps: Any, schema_editor: Any) -> None:
    snapshots = apps.get_model("store", "Snapshot").objects
    purge = apps.get_model("store", "Purge").objects.create(reason="filling Snapshot.run")
    for number in list(snapshots.filter(run=None).values_list("pk", flat=True)):
        parent, key, pieces = snapshots.values_list("parent_id", "key_id", "pieces").get(pk=number)
        runs = _runs(pieces, key)
        if key is None and parent is not None:
            runs -= _runs_before(snapshots, parent)
        if runs:
            snapshots.filter(pk=number).update(run=max(runs))
    purge.delete()


def _runs(packed: Any, key: int | None) -> set[int]:
    content = bytes(packed)
    value = json.loads(zlib.decompress(content) if content[0] == 0x78 else content)
    pieces = value if key is None else [piece for _, _, inserted in value for piece in inserted]
    return {run for run, _, _ in pieces}


def _runs_before(snapshots: Any, parent: int) -> set[int]:
    """What the snapshots from `parent` back to the last full list name."""
    runs: set[int] = set()
    at: int | None = parent
    while at is not None:
        above, key, pieces = snapshots.values_list("parent_id", "key_id", "pieces").get(pk=at)
        runs |= _runs(pieces, key)
        at = above if key is not None else None
    return runs


class Migration(migrations.Migration):
    dependencies = [("store", "0006_snapshot_run")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
