from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0007_recipient"),
    ]

    operations = [
        migrations.AddField(
            model_name="teamrules",
            name="external_writers",
            field=models.BooleanField(default=False),
        ),
    ]
