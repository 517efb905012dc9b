import chainviz.jobs.models
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from chainviz.store.checksums import protect_again


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("chains", "0001_initial"),
        ("chains", "0002_audit"),
        ("chains", "0003_judged_rules"),
        ("chains", "0004_team"),
        ("chains", "0005_fill_team"),
        ("chains", "0006_team_required"),
        ("chains", "0007_usage"),
        ("chains", "0008_begin_audit_log"),
        ("chains", "0009_checksums"),
        ("chains", "0010_fill_checksums"),
        ("chains", "0011_local_file"),
        ("chains", "0012_share_links"),
        ("chains", "0013_titles"),
        ("chains", "0014_facts"),
        ("chains", "0015_local_file_readings"),
        ("chains", "0016_folders"),
        ("chains", "0017_added_chains"),
        ("chains", "0018_saved_filter"),
        ("chains", "0019_append_only_audit"),
        ("chains", "0020_unread"),
    ]

    dependencies = [
        ("store", "0001_squashed"),
        ("accounts", "0001_squashed"),
        ("jobs", "0001_squashed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditLog",
            fields=[
                ("checksum", models.BinaryField(null=True)),
                ("chain_key", models.BigIntegerField(primary_key=True, serialize=False)),
                ("entries", models.PositiveIntegerField(default=0)),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Chain",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("title", models.CharField(max_length=200)),
                (
                    "titled_by",
                    models.CharField(
                        choices=[("file", "File"), ("content", "Content"), ("person", "Person")], default="file", max_length=7
                    ),
                ),
                ("part", models.CharField(blank=True, default="", max_length=200)),
                ("history", models.BigIntegerField(unique=True)),
                ("file_name", models.CharField(max_length=255)),
                ("sha256", models.CharField(max_length=64)),
                ("pointer", models.TextField(blank=True, default="")),
                ("is_branch", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                ("trashed_at", models.DateTimeField(null=True)),
                ("version", models.PositiveIntegerField(default=1)),
                ("format", models.CharField(max_length=40)),
                ("sections", models.PositiveIntegerField(default=0)),
                ("pairs", models.PositiveIntegerField(default=0)),
                ("messages", models.PositiveIntegerField(default=0)),
                ("size", models.BigIntegerField(default=0)),
                ("problems", models.PositiveIntegerField(default=0)),
                ("warnings", models.PositiveIntegerField(default=0)),
                ("verdicts", chainviz.jobs.models.AsciiJSONField(default=dict)),
                ("rejections", models.PositiveIntegerField(default=0)),
                ("model", models.CharField(blank=True, default="", max_length=200)),
                ("tools", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("tool_errors", models.PositiveIntegerField(default=0)),
                ("rules_broken", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("unread", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("began_at", models.DateTimeField(null=True)),
                ("duration", models.BigIntegerField(null=True)),
                ("usage", chainviz.jobs.models.AsciiJSONField(null=True)),
                ("tokens", models.BigIntegerField(null=True)),
                ("cost", models.BigIntegerField(null=True)),
                ("prices", models.IntegerField(default=0)),
                ("rules", models.IntegerField(default=0)),
                ("changed_at", models.DateTimeField()),
                (
                    "branched_from",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="branches", to="chains.chain"),
                ),
                (
                    "changed_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="chains", to=settings.AUTH_USER_MODEL),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="chains", to="accounts.team")),
            ],
        ),
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
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("chain_key", models.BigIntegerField(db_index=True)),
                ("at", models.DateTimeField()),
                ("act", models.CharField(max_length=32)),
                ("version", models.PositiveIntegerField(null=True)),
                ("draft_key", models.BigIntegerField(null=True)),
                ("packed", models.BinaryField()),
                (
                    "who",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={"ordering": ["-pk"]},
        ),
        migrations.CreateModel(
            name="AuditFact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("at", models.DateTimeField()),
                ("packed", models.BinaryField()),
                ("entry", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="later", to="chains.auditentry")),
            ],
            options={"ordering": ["at", "pk"], "abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="LocalFile",
            fields=[
                (
                    "chain",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="local_file",
                        serialize=False,
                        to="chains.chain",
                    ),
                ),
                ("path", models.TextField()),
                ("size", models.BigIntegerField(null=True)),
                ("modified", models.BigIntegerField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("took", models.FloatField(default=0)),
                ("is_behind", models.BooleanField(default=False)),
                ("sentence", models.TextField(blank=True, default="")),
            ],
        ),
        migrations.CreateModel(
            name="Arrival",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=255)),
                ("size", models.BigIntegerField()),
                ("created_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("importing", "Importing"),
                            ("choosing", "Choosing"),
                            ("failed", "Failed"),
                            ("known", "Known"),
                            ("done", "Done"),
                        ],
                        default="importing",
                        max_length=10,
                    ),
                ),
                ("waiting", models.CharField(blank=True, default="", max_length=64)),
                ("format", models.CharField(blank=True, default="", max_length=40)),
                ("found", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("made", models.PositiveIntegerField(default=0)),
                ("added", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("failure", chainviz.jobs.models.AsciiJSONField(default=dict)),
                ("job", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="jobs.job")),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="arrivals", to=settings.AUTH_USER_MODEL),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="arrivals", to="accounts.team")),
                ("chain", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="chains.chain")),
            ],
        ),
        migrations.CreateModel(
            name="Folder",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.TextField()),
                ("pattern", models.TextField(blank=True, default="")),
                ("added_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="folders", to="accounts.team")),
            ],
            options={"ordering": ["path", "pattern"]},
        ),
        migrations.CreateModel(
            name="SavedFilter",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("name", models.CharField(max_length=60)),
                ("query", models.TextField()),
                ("owner", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="saved_filters", to="accounts.team")),
            ],
            options={"ordering": ["name", "pk"], "abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="ShareLink",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("version", models.PositiveIntegerField()),
                ("token_digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(null=True)),
                ("opened", models.PositiveIntegerField(default=0)),
                ("last_opened_at", models.DateTimeField(null=True)),
                ("chain", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="shares", to="chains.chain")),
                ("member", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.membership")),
            ],
        ),
        migrations.AddIndex(
            model_name="chain",
            index=models.Index(condition=models.Q(("trashed_at", None)), fields=["team", "-changed_at"], name="chain_library"),
        ),
        migrations.AddConstraint(
            model_name="chain",
            constraint=models.UniqueConstraint(
                condition=models.Q(("is_branch", False)), fields=("team", "sha256", "pointer"), name="chain_uploaded_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="savedfilter", constraint=models.UniqueConstraint(fields=("team", "owner", "name"), name="filter_named_once")
        ),
        migrations.RunPython(protect_again("auditentry", "auditfact", prefix="chains_")),
    ]
