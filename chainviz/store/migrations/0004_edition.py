"""A history counts its purges, so that nothing that was read before one is written after it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0003_importing")]

    operations = [migrations.AddField("history", "edition", models.IntegerField(db_default=0, default=0))]
