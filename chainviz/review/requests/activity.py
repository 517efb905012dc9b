"""What happened to a chain, from the audit log of its team: for every member, without what only owners may read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from chainviz.accounts.audit.record import DONE
from chainviz.accounts.audit.words import act_label
from chainviz.accounts.models import AuditRow
from chainviz.chains.models import Chain
from chainviz.review.models import Verdict

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
API = {
    "api:save_draft": "Version saved",
    "api:new_thread": "Commented",
    "api:reply_to_thread": "Replied in thread {}",
    "api:resolve_thread": "Resolved or reopened thread {}",
    "api:set_label": "Label set",
    "api:remove_label": "Label removed",
}
SAVED = {"api:run_operation": "Version saved", "bulk": "Version saved in bulk"}
"""Acts that may save a version: only where they did."""
DID = {
    "comment": "Commented",
    "reply": "Replied in thread {}",
    "resolve": "Resolved thread {}",
    "reopen": "Reopened thread {}",
    "reopen_and_reply": "Reopened thread {}",
}
"""Without comments that wait for their review: they are their authors' only."""
VERDICTS = {
    Verdict.Kind.APPROVE.value: "Approved",
    Verdict.Kind.CHANGES.value: "Asked for changes",
    Verdict.Kind.COMMENT.value: "Reviewed",
}
COMMENTS = Q(act__in=("review:new_thread", "review:thread"))
SAVED_ONE = Q(act__in=SAVED, details__contains='"version": ')
SENT = Q(act="review:pending", details__contains='"sent": ')


@dataclass(frozen=True, slots=True)
class Activity:
    number: int
    who: str
    what: str
    version: int | None
    at: datetime


def activity_of(chain: Chain, count: int, before: int | None = None) -> list[Activity]:
    """Newest first."""
    rows = AuditRow.objects.filter(team=chain.team_id, chain_key=chain.pk, outcome=DONE).filter(_shown())
    rows = rows if before is None else rows.filter(number__lt=before)
    return [_activity(row) for row in rows.order_by("-number")[:count]]


def _shown() -> Q:
    did = Q(*(("details__contains", f'"did": "{name}"') for name in DID), _connector=Q.OR)
    return Q(act__in=(*ACTS, *API)) | SAVED_ONE | SENT | (COMMENTS & did)


def _activity(row: AuditRow) -> Activity:
    words, number = _words(row), row.facts.get("number")
    version = row.facts.get("version", None if "{}" in words else number)
    name = row.who_name.partition(" <")[0]
    return Activity(row.number, name, words.format(number), version if isinstance(version, int) else None, row.at)


def _words(row: AuditRow) -> str:
    if row.act == "review:verdict":
        return VERDICTS.get(row.facts.get("verdict", ""), act_label(row.act))
    return SAVED.get(row.act) or DID.get(row.facts.get("did", "")) or API.get(row.act) or act_label(row.act)
