"""Everybody who uses a local installation becomes the owner of a team, which keeps the name that their uploads carry."""

from django.db import migrations


def make_teams(apps, schema_editor):
    team, membership = apps.get_model("accounts", "Team"), apps.get_model("accounts", "Membership")
    for user in apps.get_model("accounts", "User").objects.order_by("pk"):
        made = team.objects.create(name="My team", store_name=f"user:{user.pk}")
        membership.objects.create(team=made, user=user, role="owner")


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_teams")]

    operations = [migrations.RunPython(make_teams, migrations.RunPython.noop)]
