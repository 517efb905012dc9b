"""The records of local mode become the sealed beginning of the team's audit log: who did what to which chain, and when."""

import json

from django.db import migrations

from chainviz.accounts.audit.chain import digest_of


def begin(apps, schema_editor):
    for team in apps.get_model("accounts", "Team").objects.order_by("pk"):
        chains = apps.get_model("chains", "Chain").objects.filter(team=team).values("pk")
        people = apps.get_model("accounts", "Membership").objects.filter(team=team).values("user")
        entries = apps.get_model("chains", "AuditEntry").objects
        found = (entries.filter(chain_key__in=chains) | entries.filter(who__in=people)).order_by("pk")
        for entry in found.select_related("who"):
            facts = {"record": entry.pk, "act": entry.act}
            append(apps, team, at=entry.at, who=entry.who, act="local", chain_key=entry.chain_key, facts=facts)
            last = entry.at
        if team.audit_number:
            append(apps, team, at=last, who=None, act="sealed", chain_key=None, facts={"rows": team.audit_number})


def append(apps, team, *, who, facts, **columns):
    name = (" ".join(filter(None, (who.first_name, who.last_name))) or who.username) if who else ""
    row = apps.get_model("accounts", "AuditRow")(
        team=team, number=team.audit_number + 1, previous=team.audit_digest, who=who, who_name=name,
        outcome="done", details=json.dumps(facts), **columns,
    )
    row.digest = digest_of(row)
    row.save()
    team.audit_number, team.audit_digest = row.number, row.digest
    team.save()


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_protect_audit_log"), ("chains", "0007_usage")]

    operations = [migrations.RunPython(begin, migrations.RunPython.noop)]
