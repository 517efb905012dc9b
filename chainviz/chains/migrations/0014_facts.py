"""What a chain"s transcript records, filled when the chain is judged again; and the columns that a person chose."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import chainviz.jobs.models
from chainviz.store.checksums import fill_checksums


def fill(apps: Any, schema_editor: Any) -> None:
    fill_checksums(apps.get_model("chains", "Chain").objects)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0007_api_tokens"),
        ("chains", "0013_titles"),
    ]

    operations = [
        migrations.CreateModel(
            name="ColumnChoice",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("columns", chainviz.jobs.models.AsciiJSONField()),
            ],
        ),
        migrations.AddField(
            model_name="chain",
            name="began_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="chain",
            name="calls",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="chain",
            name="cost",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="chain",
            name="duration",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="chain",
            name="tool_errors",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="chain",
            name="model",
            field=models.CharField(blank=True, default="", max_length=200),
        ),
        migrations.AddField(
            model_name="chain",
            name="prices",
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name="chain",
            name="rejections",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="chain",
            name="rules_broken",
            field=chainviz.jobs.models.AsciiJSONField(default=list),
        ),
        migrations.AddField(
            model_name="chain",
            name="tools",
            field=chainviz.jobs.models.AsciiJSONField(default=list),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
