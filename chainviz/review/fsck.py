"""Check reviews: rows against their checksums, that none is missing, sign-offs against the audit log."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.accounts.models import AuditRow
from chainviz.review.models import Comment, Discussion, Label, Review, Reviewer, ReviewRequest, SignOff, Thread, Verdict
from chainviz.store.checksums import Checked
from chainviz.store.fsck import Finding, changed_rows, guarded

SIGNED, CERTIFIED = "signed off", "exported outside"
"""Acts of the audit rows that are written with a sign-off or a certificate."""


def fsck_review() -> Iterator[Finding]:
    yield from changed_rows((Discussion, Thread, Comment, Review, ReviewRequest, Reviewer, Verdict, Label, SignOff))
    yield from guarded("The threads", _without(Thread, "discussion"))
    for model in (ReviewRequest, Verdict, Label):
        yield from guarded("The reviews", _without(model, "review"))
    yield from guarded("The sign-offs", _sign_offs())


def _without(model: type[Checked], parent: str) -> Iterator[Finding]:
    """Yield rows of a chain whose `parent`, which lists them all, is missing."""
    rows = model._base_manager.filter(**{f"chain__{parent}": None})
    for key in rows.order_by("pk").values_list("pk", flat=True):
        yield Finding("error", f"{str(model._meta.verbose_name).capitalize()} {key} belongs to no {parent} of a chain.")


def _sign_offs() -> Iterator[Finding]:
    stored = {(each.team_id, each.number, each.sha256) for each in SignOff.objects.all()}
    rows = AuditRow.objects.filter(act__in=(SIGNED, CERTIFIED))
    logged = {(row.team_id, row.facts.get("sign_off") or row.facts.get("certificate"), row.facts.get("sha256")) for row in rows}
    for team, number, _ in sorted(stored ^ logged, key=str):
        where = "is missing" if (team, number) in {each[:2] for each in logged} else "is not in the audit log"
        yield Finding("error", f"Sign-off or certificate {number} of team {team} {where}.")
