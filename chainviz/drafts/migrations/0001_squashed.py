import chainviz.jobs.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("drafts", "0001_initial"),
        ("drafts", "0002_summaries"),
        ("drafts", "0003_presets"),
        ("drafts", "0004_keep_people"),
        ("drafts", "0005_checksums"),
        ("drafts", "0006_fill_checksums"),
        ("drafts", "0007_summary_usage"),
    ]

    dependencies = [("chains", "0001_squashed"), ("jobs", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("key", models.BigIntegerField(unique=True)),
                ("base", models.PositiveIntegerField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("discarded_at", models.DateTimeField(null=True)),
                ("saved_as", models.PositiveIntegerField(null=True)),
                (
                    "author",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="drafts", to=settings.AUTH_USER_MODEL),
                ),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="drafts", to="chains.chain")),
            ],
        ),
        migrations.CreateModel(
            name="Preset",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("operation", models.CharField(max_length=32)),
                ("name", models.CharField(max_length=80)),
                ("options", chainviz.jobs.models.AsciiJSONField()),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="presets", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={"ordering": ["name"]},
        ),
        migrations.CreateModel(
            name="SummaryRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("base", models.PositiveIntegerField()),
                ("snapshot", models.BigIntegerField()),
                ("size", models.BigIntegerField()),
                ("options", chainviz.jobs.models.AsciiJSONField()),
                ("writer", models.CharField(max_length=20)),
                ("warnings", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("taken_at", models.DateTimeField(null=True)),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="summary_runs", to="chains.chain")),
                ("draft", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="drafts.draft")),
                ("job", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job")),
            ],
        ),
        migrations.CreateModel(
            name="SummaryPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=100)),
                ("first", models.CharField(max_length=60)),
                ("last", models.CharField(max_length=60)),
                ("reason", models.TextField()),
                ("size", models.BigIntegerField()),
                ("estimate", models.BigIntegerField()),
                ("after", models.BigIntegerField(default=-1)),
                ("left", models.TextField(blank=True, default="")),
                ("in_plan", models.BooleanField(default=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("writing", "Writing"),
                            ("ready", "Ready"),
                            ("failed", "Failed"),
                            ("declined", "Declined"),
                        ],
                        default="waiting",
                        max_length=10,
                    ),
                ),
                ("text", chainviz.jobs.models.AsciiJSONField(default="")),
                ("losses", chainviz.jobs.models.AsciiJSONField(default=dict)),
                ("author", models.CharField(blank=True, default="", max_length=200)),
                ("cause", models.TextField(blank=True, default="")),
                ("hint", models.TextField(blank=True, default="")),
                ("progress", models.FloatField(default=0)),
                ("stage", models.TextField(blank=True, default="")),
                ("seconds", models.FloatField(null=True)),
                ("usage", chainviz.jobs.models.AsciiJSONField(default=dict)),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("claim", models.PositiveIntegerField(default=0)),
                ("job", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job")),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="pieces", to="drafts.summaryrun")),
            ],
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.UniqueConstraint(
                condition=models.Q(("discarded_at", None), ("saved_as", None)), fields=("chain", "author", "base"), name="draft_once_a_base"
            ),
        ),
        migrations.AddConstraint(
            model_name="preset", constraint=models.UniqueConstraint(fields=("owner", "operation", "name"), name="preset_named_once")
        ),
        migrations.AddConstraint(
            model_name="summaryrun", constraint=models.UniqueConstraint(fields=("author", "snapshot"), name="summary_run_once_a_content")
        ),
        migrations.AddConstraint(
            model_name="summarypiece", constraint=models.UniqueConstraint(fields=("run", "key"), name="summary_piece_once_a_run")
        ),
    ]
