"""What of a chain's document was not read is kept with the chain, so that the library can name it."""

from django.db import migrations

import chainviz.jobs.models
from chainviz.store.checksums import fill_checksums


def fill(apps, schema_editor):
    fill_checksums(apps.get_model("chains", "Chain").objects)


class Migration(migrations.Migration):
    dependencies = [("chains", "0019_append_only_audit")]

    operations = [
        migrations.AddField(
            model_name="chain", name="unread", field=chainviz.jobs.models.AsciiJSONField(default=list)
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
