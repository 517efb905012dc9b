"""A history says that its import is alive, see unfinished.py."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0002_append_only")]

    operations = [migrations.AddField("history", "importing", models.DateTimeField(null=True))]
