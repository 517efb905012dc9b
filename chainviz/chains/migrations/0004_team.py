"""Chains, and files on their way, belong to a team. Filled by the next migration, required by the one after it."""

import django.db.models.deletion
from django.db import migrations, models


def team(related_name):
    return models.ForeignKey(
        null=True, on_delete=django.db.models.deletion.PROTECT, related_name=related_name, to="accounts.team"
    )


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_team_of_local_owner"), ("chains", "0003_judged_rules")]

    operations = [
        migrations.AddField("chain", "team", team("chains")),
        migrations.AddField("arrival", "team", team("arrivals")),
    ]
