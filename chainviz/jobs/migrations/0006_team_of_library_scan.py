"""A scan of the library names the team whose library it is."""

from django.db import migrations


def name_teams(apps, schema_editor):
    teams = dict(apps.get_model("accounts", "Membership").objects.values_list("user", "team"))
    for job in apps.get_model("jobs", "Job").objects.filter(function="scan-library", owner__in=teams):
        job.args = {**job.args, "team": teams[job.owner_id]}
        job.save(update_fields=["args"])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_team_of_local_owner"), ("jobs", "0005_keep_people")]

    operations = [migrations.RunPython(name_teams, migrations.RunPython.noop)]
