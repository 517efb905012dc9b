from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from chainviz.store.search import full_text_tables


def create(apps: Any, schema_editor: Any) -> None:
    full_text_tables.create(schema_editor)


def drop(apps: Any, schema_editor: Any) -> None:
    full_text_tables.drop(schema_editor)


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0010_upload_base"),
    ]

    operations = [
        migrations.CreateModel(
            name="SearchBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("start", models.IntegerField()),
                ("length", models.IntegerField()),
                ("digest", models.BinaryField()),
                (
                    "history",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="search_blocks", to="store.history"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.run"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SearchState",
            fields=[
                (
                    "history",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_state",
                        serialize=False,
                        to="store.history",
                    ),
                ),
                ("rules", models.IntegerField()),
                (
                    "snapshot",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="store.snapshot",
                    ),
                ),
            ],
        ),
        migrations.RunPython(create, drop),
    ]
