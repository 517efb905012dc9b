"""Links are made by an owner and shown once; only a digest of the token is stored."""

from __future__ import annotations

import secrets
from datetime import timedelta
from hashlib import sha256

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from chainviz.accounts.audit.record import record
from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain
from chainviz.chains.shares.models import ShareLink

OPENING_RECORDED_EVERY = timedelta(minutes=1)
ACT = "chains:shared"


def make_link(chain: Chain, version: int, member: Membership, days: int) -> tuple[ShareLink, str]:
    """Returns the link and its token, which nobody can find out later."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    link = ShareLink.objects.create(
        chain=chain,
        version=version,
        member=member,
        token_digest=_digest(token),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return link, token


def links_of(member: Membership) -> QuerySet[ShareLink]:
    """Returns all links of the team, the newest first."""
    return ShareLink.objects.filter(chain__team=member.team_id).select_related("chain", "member__user").order_by("-pk")


def revoke(link: ShareLink) -> None:
    link.revoked_at = timezone.now()
    link.save(update_fields=["revoked_at"])


def find_link(token: str) -> ShareLink | None:
    """Returns None for a link that is unknown or ended, or whose chain is in the bin."""
    found = ShareLink.objects.select_related("chain__team", "member__user").filter(token_digest=_digest(token)).first()
    return found if found is not None and found.state == "active" and not found.chain.is_in_bin else None


@transaction.atomic
def note_opening(link: ShareLink) -> None:
    """Counts it, and records one a minute in the audit log, so that a visitor cannot fill the log."""
    now, before = timezone.now(), link.last_opened_at
    ShareLink.objects.filter(pk=link.pk).update(opened=F("opened") + 1, last_opened_at=now)
    if before is None or now - before > OPENING_RECORDED_EVERY:
        record(link.chain.team, None, ACT, chain=link.chain_id, link=link.pk, version=link.version)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
