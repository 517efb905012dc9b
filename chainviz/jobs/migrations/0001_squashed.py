import chainviz.jobs.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("jobs", "0001_initial"),
        ("jobs", "0002_queue"),
        ("jobs", "0003_function_names"),
        ("jobs", "0004_one_operation_job"),
        ("jobs", "0005_keep_people"),
        ("jobs", "0006_team_of_library_scan"),
    ]

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Job",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("function", models.CharField(max_length=200)),
                ("args", chainviz.jobs.models.AsciiJSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                            ("interrupted", "Interrupted"),
                        ],
                        default="queued",
                        max_length=12,
                    ),
                ),
                ("progress", models.FloatField(default=0)),
                ("message", models.TextField(blank=True, default="")),
                ("result", chainviz.jobs.models.AsciiJSONField(null=True)),
                ("cancel_requested", models.BooleanField(default=False)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("max_attempts", models.PositiveSmallIntegerField(default=2)),
                ("created_at", models.DateTimeField()),
                ("lease_until", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "owner",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="jobs", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"indexes": [models.Index(fields=["state", "lease_until"], name="job_state")]},
        )
    ]
