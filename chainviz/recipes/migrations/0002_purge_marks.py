from django.db import migrations, models

from chainviz.jobs.models import AsciiJSONField


class Migration(migrations.Migration):
    dependencies = [("recipes", "0001_initial")]
    operations = [
        migrations.AddField("recipe", "purged_steps", AsciiJSONField(null=True)),
        migrations.AddField("wordlist", "purged_lines", models.PositiveIntegerField(null=True)),
    ]
