import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

from chainviz.store.checksums import protect_again
from chainviz.store.search import full_text_tables


def create_search_tables(apps, schema_editor):
    full_text_tables.create(schema_editor)


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("store", "0001_initial"),
        ("store", "0002_append_only"),
        ("store", "0003_importing"),
        ("store", "0004_edition"),
        ("store", "0005_writing"),
        ("store", "0006_snapshot_run"),
        ("store", "0007_fill_snapshot_run"),
        ("store", "0008_checksums"),
        ("store", "0009_fill_checksums"),
        ("store", "0010_upload_base"),
        ("store", "0011_search_index"),
        ("store", "0012_first_search_blocks"),
    ]

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="History",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("importing", models.DateTimeField(null=True)),
                ("edition", models.IntegerField(db_default=0, default=0)),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Snapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("generation", models.IntegerField(default=0)),
                ("pieces", models.BinaryField()),
                ("format", models.CharField(max_length=64)),
                ("digest", models.BinaryField()),
                ("messages", models.IntegerField()),
                ("sections", models.IntegerField()),
                ("pairs", models.IntegerField()),
                ("size", models.BigIntegerField()),
                ("stored", models.BigIntegerField()),
                ("operation", models.CharField(max_length=64)),
                ("options", models.BinaryField()),
                ("report", models.BinaryField()),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("history", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="snapshots", to="store.history")),
                ("key", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.snapshot")),
                (
                    "parent",
                    models.ForeignKey(
                        db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.snapshot"
                    ),
                ),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Purge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.TextField()),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("kind", models.CharField(choices=[("import", "import"), ("edit", "edit")], max_length=8)),
                ("format", models.CharField(max_length=64)),
                ("history", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="store.history")),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("history", models.BigIntegerField()),
                ("kind", models.CharField(max_length=16)),
                ("digest", models.CharField(max_length=64)),
                ("reason", models.TextField()),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
        ),
        migrations.CreateModel(
            name="Outline",
            fields=[
                (
                    "snapshot",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, serialize=False, to="store.snapshot"
                    ),
                ),
                ("rules", models.IntegerField()),
                ("listing", models.BinaryField()),
                ("errors", models.IntegerField()),
                ("warnings", models.IntegerField()),
                ("verdicts", models.BinaryField()),
                ("charts", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="OutlineBlock",
            fields=[
                ("pk", models.CompositePrimaryKey("history", "digest", blank=True, editable=False, primary_key=True, serialize=False)),
                ("digest", models.BinaryField(max_length=16)),
                ("rows", models.BinaryField()),
                ("hashes", models.BinaryField()),
                ("history", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, to="store.history")),
            ],
        ),
        migrations.CreateModel(
            name="RunChecksum",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="checksum_of_messages",
                        serialize=False,
                        to="store.run",
                    ),
                ),
                ("digest", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Template",
            fields=[
                ("checksum", models.BinaryField(null=True)),
                (
                    "run",
                    models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to="store.run"),
                ),
                ("envelope", models.BinaryField()),
                ("shell", models.BinaryField()),
                ("starts", models.BinaryField()),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Writing",
            fields=[
                (
                    "run",
                    models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, primary_key=True, serialize=False, to="store.run"),
                ),
                ("alive", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="snapshot",
            name="run",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="snapshots", to="store.run"),
        ),
        migrations.CreateModel(
            name="Message",
            fields=[
                ("pk", models.CompositePrimaryKey("run", "position", blank=True, editable=False, primary_key=True, serialize=False)),
                ("position", models.IntegerField()),
                ("digest", models.BinaryField()),
                ("size", models.BigIntegerField()),
                ("skeleton", models.BinaryField()),
                ("preview", models.TextField()),
                ("source", models.BinaryField()),
                ("run", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="store.run")),
            ],
        ),
        migrations.CreateModel(
            name="Body",
            fields=[
                ("pk", models.CompositePrimaryKey("run", "position", blank=True, editable=False, primary_key=True, serialize=False)),
                ("position", models.IntegerField()),
                ("content", models.BinaryField()),
                ("run", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="store.run")),
            ],
        ),
        migrations.CreateModel(
            name="SearchBlock",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("start", models.IntegerField()),
                ("length", models.IntegerField()),
                ("digest", models.BinaryField()),
                ("is_first", models.BooleanField(default=False)),
                (
                    "history",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="search_blocks", to="store.history"),
                ),
                ("run", models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.run")),
            ],
        ),
        migrations.CreateModel(
            name="Upload",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("owner", models.CharField(max_length=64)),
                ("sha256", models.CharField(max_length=64)),
                ("size", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("filename", models.TextField()),
                ("encoding", models.CharField(max_length=32)),
                ("bom", models.BooleanField()),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("start", models.BigIntegerField(null=True)),
                (
                    "base",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="later", to="store.upload"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="run",
            name="upload",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="store.upload"),
        ),
        migrations.CreateModel(
            name="UploadChunk",
            fields=[
                ("pk", models.CompositePrimaryKey("upload", "index", blank=True, editable=False, primary_key=True, serialize=False)),
                ("index", models.IntegerField()),
                ("content", models.BinaryField()),
                (
                    "upload",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="chunks", to="store.upload"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("number", models.IntegerField()),
                ("author", models.CharField(max_length=64)),
                ("note", models.TextField()),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "history",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="store.history"
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.version"
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="versions", to="store.snapshot"
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="history",
            name="head",
            field=models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.version"
            ),
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("author", models.CharField(max_length=64)),
                ("note", models.TextField(blank=True, default="")),
                ("cursor", models.IntegerField(default=0)),
                ("created", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated", models.DateTimeField(auto_now=True)),
                ("history", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="drafts", to="store.history")),
                (
                    "base",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.version"),
                ),
                (
                    "saved",
                    models.ForeignKey(
                        db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="store.version"
                    ),
                ),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
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
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="store.snapshot"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="snapshot",
            name="template",
            field=models.ForeignKey(
                db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.template"
            ),
        ),
        migrations.CreateModel(
            name="Step",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                (
                    "draft",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="store.draft"),
                ),
                (
                    "snapshot",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="store.snapshot"),
                ),
            ],
            options={
                "ordering": ["position"],
                "constraints": [models.UniqueConstraint(fields=("draft", "position"), name="step_positions_once")],
            },
        ),
        migrations.AddConstraint(
            model_name="upload", constraint=models.UniqueConstraint(fields=("owner", "sha256"), name="upload_once_an_owner")
        ),
        migrations.AddConstraint(
            model_name="version", constraint=models.UniqueConstraint(fields=("history", "number"), name="version_numbers_once")
        ),
        migrations.RunPython(protect_again()),
        migrations.RunPython(create_search_tables),
    ]
