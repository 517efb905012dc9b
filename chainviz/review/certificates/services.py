"""Making a certificate: the file is written, digested and searched, and a row is kept that nobody can change."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chainviz.accounts.audit.record import record
from chainviz.accounts.models import Membership, Team
from chainviz.chains.exports.choices import Export
from chainviz.chains.exports.lock import locked_reason
from chainviz.chains.models import Chain
from chainviz.chains.secrets.files import findings_in
from chainviz.chains.secrets.findings import is_long
from chainviz.core.errors import Refused
from chainviz.drafts.target import Target, target_of_version
from chainviz.jobs import lease
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, run_job, start_job
from chainviz.review.certificates.facts import (
    Leftovers,
    not_searched,
    other_changes,
    purges,
    removed_rows,
    searched,
)
from chainviz.review.export_lock import is_signed_off
from chainviz.review.fsck import CERTIFIED
from chainviz.review.models import SignOff
from chainviz.review.models.sign_off import LONGEST_RECIPIENT
from chainviz.review.requests.standing import standing_of
from chainviz.review.sign_off.services import next_number
from chainviz.store.content.codec import pack
from chainviz.store.models import Snapshot

FUNCTION = "make-certificate"
WRITTEN, SEARCHED = 0.4, 0.9
"""How far a job is when the file is digested and scanned, and when the removed values were looked for."""


def begin(chain: Chain, version: int, recipient: str, to: str, *, by: Membership) -> Job:
    """A job, which is over when the chain is short. Raises Refused."""
    name = " ".join(storable(recipient).split())
    if not name or len(name) > LONGEST_RECIPIENT:
        raise Refused(f"Enter who receives it, in 1 to {LONGEST_RECIPIENT} characters.")
    target = target_of_version(chain, version, by.user)
    export = Export.to(target.subject, to)
    _require_unlocked(chain, version)
    job = start_job(FUNCTION, owner=by.user, chain=chain.pk, version=version, recipient=name, to=export.format.name)
    if not is_long(target.stored):
        run_job(job.pk)
        job.refresh_from_db()
    return job


def job_of(chain: Chain, member: Membership, number: int) -> Job | None:
    return Job.objects.about(chain).visible_to(member.user).filter(function=FUNCTION, pk=number).first()


def certify(context: JobContext, chain: int, version: int, recipient: str, to: str) -> dict[str, Any]:
    """Returns the number of the certificate."""
    row = Chain.objects.in_library().select_related("team").filter(pk=chain).first()
    members = Membership.objects.active().select_related("user", "team")
    member = members.filter(user=context.job.owner_id, team=row.team_id).first() if row else None
    if row is None or member is None or not member.may("export"):
        raise Refused("The chain was deleted, or you can no longer export it.")
    _require_unlocked(row, version)
    target = target_of_version(row, version, member.user)
    export = Export.to(target.subject, to)
    digest, size, facts = _read(context, target, export, recipient)
    signed = is_signed_off(row, version)
    standing = standing_of(row) if signed and version == row.version else None
    approvals = [[each.name, each.version, each.given_at.isoformat()] for each in standing.approvals] if standing else []
    facts |= {"role": member.role, "messages": target.stored.snapshot.messages, "signed_off": signed, "approvals": approvals}
    made = {"format": export.format.name, "sha256": digest, "size": size, "packed": pack(facts)}
    return _kept(context, target, member, recipient, made)


def _read(context: JobContext, target: Target, export: Export, recipient: str) -> tuple[str, int, dict[str, Any]]:
    """Digest and length of the file, and what is to be said about it."""
    digest, size = sha256(), 0
    stored, whole = target.stored, max(1, target.stored.snapshot.stored)

    def written() -> Iterator[bytes]:
        nonlocal size
        for piece in export.chain():
            digest.update(piece)
            size += len(piece)
            context.report(min(1.0, size / whole) * WRITTEN, f"{size:,} bytes written and searched")
            yield piece

    found = findings_in(written())
    left = Leftovers(stored.snapshot)
    if left.are_in(recipient):
        raise Refused("The recipient's name contains a removed value. Use another name.")
    context.report(WRITTEN, "Searching for removed values")
    places_left = left.count(export.chain)
    context.report(SEARCHED, "Storing the record")
    return digest.hexdigest(), size, {
        "removed": removed_rows(stored.snapshot) if not left.unknown else [],
        "purged": purges(target.chain),
        "other": other_changes(stored.snapshot),
        "losses": list(export.trial.losses),
        "searched": searched(stored, found, left, places_left),
        "not_searched": not_searched(stored, left),
    }  # fmt: skip


def _kept(context: JobContext, target: Target, member: Membership, recipient: str, made: dict[str, Any]) -> dict[str, Any]:
    snapshot = target.stored.snapshot
    with transaction.atomic():
        team = Team.objects.select_for_update().get(pk=member.team_id)
        edition = Snapshot.objects.values_list("history__edition", flat=True).get(pk=snapshot.pk)
        if edition != snapshot.history.edition:
            raise Refused("Values were purged from the chain at this moment. Export it again.")
        row = SignOff.objects.create(
            team=team,
            number=next_number(team),
            chain_key=target.chain.pk,
            version=target.version.number,
            edition=edition,
            who=member.user,
            who_name=_name_of(member),
            at=timezone.now(),
            recipient=recipient,
            **made,
        )
        facts: dict[str, Any] = {"version": row.version, "sha256": row.sha256, "bytes": row.size, "recipient": recipient}
        record(team, member.user, CERTIFIED, chain=target.chain.pk, certificate=row.number, **facts)
        result = {"number": row.number}
        if context.is_cancelled() or not lease.finish(context.job, Job.State.DONE, result=result):
            raise Cancelled
    return result


def _name_of(member: Membership) -> str:
    """In local mode the person is called “You”, which means nobody on paper."""
    return member.user.display_name if settings.CHAINVIZ.mode == "team" else "The owner of this installation"


def _require_unlocked(chain: Chain, version: int) -> None:
    reason = locked_reason(chain, version)
    if reason:
        raise Refused(reason)
