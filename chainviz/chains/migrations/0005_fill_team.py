"""What a person uploaded in local mode belongs to their team."""

from django.db import migrations


def fill_teams(apps, schema_editor):
    for membership in apps.get_model("accounts", "Membership").objects.all():
        for name in ("Chain", "Arrival"):
            rows = apps.get_model("chains", name).objects.filter(owner=membership.user_id, team=None)
            rows.update(team=membership.team_id)


class Migration(migrations.Migration):
    dependencies = [("chains", "0004_team")]

    operations = [migrations.RunPython(fill_teams, migrations.RunPython.noop)]
