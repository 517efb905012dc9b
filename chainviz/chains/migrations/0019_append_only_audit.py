"""Makes the audit of chains append-only: later facts are rows of their own, and keys are no longer part of checksums."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from chainviz.store import append_only
from chainviz.store.checksums import fill_checksums

TABLES = ("auditentry", "auditfact")


def fill(apps, schema_editor):
    fill_checksums(apps.get_model("chains", "AuditEntry").objects, with_key=False)


def protect(apps, schema_editor):
    append_only.protect(schema_editor, TABLES, "chains_")


def unprotect(apps, schema_editor):
    append_only.unprotect(schema_editor, TABLES, "chains_")


class Migration(migrations.Migration):
    dependencies = [("chains", "0018_saved_filter"), ("store", "0002_append_only")]

    operations = [
        migrations.AlterField(
            model_name="auditentry",
            name="who",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="AuditFact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("at", models.DateTimeField()),
                ("packed", models.BinaryField()),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="later", to="chains.auditentry"
                    ),
                ),
            ],
            options={"ordering": ["at", "pk"], "abstract": False, "base_manager_name": "objects"},
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RunPython(protect, unprotect),
    ]
