from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chains", "0003_library_totals")]

    operations = [migrations.AddField(model_name="chain", name="provider", field=models.CharField(max_length=40, null=True))]
