"""Redactions and masks are jobs like those of every other operation."""

from django.db import migrations


def name_operations(apps, schema_editor):
    for job in apps.get_model("jobs", "Job").objects.filter(function__in=["redact", "mask"]):
        job.args = {**job.args, "operation": job.function}
        job.function = "run-operation"
        job.save(update_fields=["args", "function"])


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_function_names")]

    operations = [migrations.RunPython(name_operations, migrations.RunPython.noop)]
