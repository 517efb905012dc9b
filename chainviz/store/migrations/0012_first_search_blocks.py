from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("store", "0011_search_index"),
    ]

    operations = [
        migrations.AddField("searchblock", "is_first", models.BooleanField(default=False)),
    ]
