import chainviz.jobs.models
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [("recipes", "0001_initial"), ("recipes", "0002_purge_marks")]

    dependencies = [("accounts", "0001_squashed"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Shelf",
            fields=[
                ("checksum", models.BinaryField(null=True)),
                (
                    "team",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="shelf",
                        serialize=False,
                        to="accounts.team",
                    ),
                ),
            ],
            options={"abstract": False, "base_manager_name": "objects"},
        ),
        migrations.CreateModel(
            name="Recipe",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("changed_at", models.DateTimeField()),
                ("edition", models.PositiveIntegerField(default=1)),
                ("name", models.CharField(max_length=80)),
                ("steps", chainviz.jobs.models.AsciiJSONField(default=list)),
                ("purged_steps", chainviz.jobs.models.AsciiJSONField(null=True)),
                (
                    "changed_by",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="recipes", to="accounts.team")),
            ],
            options={
                "ordering": ["name"],
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [models.UniqueConstraint(fields=("team", "name"), name="recipe_named_once")],
            },
        ),
        migrations.CreateModel(
            name="WordList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("checksum", models.BinaryField(null=True)),
                ("changed_at", models.DateTimeField()),
                ("edition", models.PositiveIntegerField(default=1)),
                ("name", models.CharField(max_length=60)),
                ("words", models.TextField(blank=True, default="")),
                ("patterns", models.TextField(blank=True, default="")),
                ("purged_lines", models.PositiveIntegerField(null=True)),
                (
                    "changed_by",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("team", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="word_lists", to="accounts.team")),
            ],
            options={
                "ordering": ["name"],
                "abstract": False,
                "base_manager_name": "objects",
                "constraints": [models.UniqueConstraint(fields=("team", "name"), name="word_list_named_once")],
            },
        ),
    ]
