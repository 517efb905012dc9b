"""A snapshot names the run that its step wrote. Nullable: any other column would make SQLite remake the table and drop its
triggers."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0005_writing")]

    operations = [
        migrations.AddField(
            "snapshot",
            "run",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="snapshots", to="store.run"
            ),
        )
    ]
