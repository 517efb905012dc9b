import chainviz.jobs.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [("bulk", "0001_initial"), ("bulk", "0002_awaits_purge")]

    dependencies = [
        ("accounts", "0001_squashed"),
        ("chains", "0001_squashed"),
        ("drafts", "0001_squashed"),
        ("jobs", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="BulkRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("act", models.CharField(max_length=32)),
                ("options", chainviz.jobs.models.AsciiJSONField(default=dict)),
                ("created_at", models.DateTimeField()),
                ("awaits_purge", models.BooleanField(default=False)),
                (
                    "author",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="bulk_runs", to=settings.AUTH_USER_MODEL),
                ),
                ("job", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job")),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="bulk_runs", to="accounts.team")),
                (
                    "undoes",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="undone_by", to="bulk.bulkrun"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="BulkRow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("changed", "Changed"), ("unchanged", "Unchanged"), ("refused", "Refused")],
                        default="waiting",
                        max_length=9,
                    ),
                ),
                ("text", models.TextField(blank=True, default="")),
                ("before", models.PositiveIntegerField(null=True)),
                ("after", models.PositiveIntegerField(null=True)),
                ("facts", chainviz.jobs.models.AsciiJSONField(default=dict)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="chains.chain")),
                ("draft", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="drafts.draft")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="rows", to="bulk.bulkrun")),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("run", "chain"), name="bulk_row_once_a_chain")]},
        ),
    ]
