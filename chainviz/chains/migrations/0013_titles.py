"""Says of each chain what its title comes from: one that is not its file's name was given by a person."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from django.db import migrations, models

from chainviz.store.checksums import fill_checksums


def fill(apps: Any, schema_editor: Any) -> None:
    chains = apps.get_model("chains", "Chain").objects
    for key, title, file_name in list(chains.values_list("pk", "title", "file_name")):
        stem = PurePath(file_name).stem or file_name
        title = title.removesuffix(" (branch)")
        is_of_part = title.startswith(f"{stem}: ")
        by = "file" if is_of_part or title == stem[:200] else "person"
        chains.filter(pk=key).update(titled_by=by, part=title[len(stem) + 2 :] if is_of_part else "")
    fill_checksums(chains)


class Migration(migrations.Migration):
    dependencies = [("chains", "0012_share_links")]

    operations = [
        migrations.AddField("chain", "part", models.CharField(blank=True, default="", max_length=200)),
        migrations.AddField(
            "chain",
            "titled_by",
            models.CharField(
                choices=[("file", "File"), ("content", "Content"), ("person", "Person")], default="file", max_length=7
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
