"""A later state of a file that grew holds its own bytes only. Nullable: any other column would make SQLite remake the
table and drop its triggers."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0009_fill_checksums")]

    operations = [
        migrations.AddField(
            "upload",
            "base",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.PROTECT, related_name="later", to="store.upload"
            ),
        ),
        migrations.AddField("upload", "start", models.BigIntegerField(null=True)),
    ]
