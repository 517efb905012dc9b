"""What the writing of each summary cost, as the model's server counted it."""

from django.db import migrations

import chainviz.jobs.models


class Migration(migrations.Migration):
    dependencies = [("drafts", "0006_fill_checksums")]

    operations = [
        migrations.AddField(
            model_name="summarypiece",
            name="usage",
            field=chainviz.jobs.models.AsciiJSONField(default=dict),
        ),
    ]
