"""A long step is written in short transactions; until its end a row says that its writer is alive."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0004_edition")]

    operations = [
        migrations.CreateModel(
            name="Writing",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        serialize=False,
                        to="store.run",
                    ),
                ),
                ("alive", models.DateTimeField()),
            ],
        ),
    ]
