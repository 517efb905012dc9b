"""An index of what the library counts and sums."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chains", "0002_working_copies")]

    operations = [
        migrations.AddIndex(
            model_name="chain",
            index=models.Index(
                fields=[
                    "team",
                    "trashed_at",
                    "project",
                    "changed_at",
                    "health",
                    "format",
                    "messages",
                    "tokens",
                    "cost",
                    "duration",
                    "size",
                    "problems",
                    "warnings",
                ],
                name="chain_totals",
            ),
        )
    ]
