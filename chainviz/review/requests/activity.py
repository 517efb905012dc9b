"""What happened to a chain, from the audit log of its team: for every member, without what only owners may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chainviz.accounts.audit.record import DONE
from chainviz.accounts.audit.words import act_label
from chainviz.accounts.models import AuditRow
from chainviz.chains.models import Chain

ACTS = (
    "chains:restore",
    "chains:rename",
    "chains:to_bin",
    "chains:from_bin",
    "chains:export",
    "drafts:save",
    "purged",
    "review:request",
    "review:verdict",
    "review:dismiss",
    "review:labels",
    "review:unlabel",
    "signed off",
    "exported outside",
)
"""Of a person's own drafts and marks others learn nothing."""


@dataclass(frozen=True, slots=True)
class Activity:
    number: int
    who: str
    what: str
    version: int | None
    at: datetime


def activity_of(chain: Chain, count: int, before: int | None = None) -> list[Activity]:
    """Newest first."""
    rows = AuditRow.objects.filter(team=chain.team_id, chain_key=chain.pk, outcome=DONE, act__in=ACTS)
    rows = rows if before is None else rows.filter(number__lt=before)
    return [_activity(row) for row in rows.order_by("-number")[:count]]


def _activity(row: AuditRow) -> Activity:
    version = row.facts.get("version", row.facts.get("number"))
    name = row.who_name.partition(" <")[0]
    return Activity(row.number, name, act_label(row.act), version if isinstance(version, int) else None, row.at)
