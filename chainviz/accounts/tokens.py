"""API tokens. A person creates one for a program; it is shown once, stored as a digest, and allows at most what the person's role does."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from chainviz.accounts.audit import REFUSED, record
from chainviz.accounts.models import ApiToken, Membership

PREFIX = "cvz_"
SHOWN = 8
"""The number of characters at the start of a token that are stored, so that a person can recognize it."""
USE_NOTED_EVERY = timedelta(minutes=1)


def create_token(member: Membership, name: str, scopes: Collection[str], days: int) -> tuple[ApiToken, str]:
    """Create a token. Return its row and the token itself, which cannot be recovered later."""
    token = PREFIX + secrets.token_urlsafe(32)
    now = timezone.now()
    row = ApiToken.objects.create(
        membership=member,
        name=name,
        scopes=" ".join(scopes),
        beginning=token[:SHOWN],
        token_digest=token_digest(token),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return row, token


def tokens_of(member: Membership) -> QuerySet[ApiToken]:
    """Return the person's tokens in a team that were not revoked, newest first."""
    return ApiToken.objects.filter(membership=member, revoked_at=None).order_by("-pk")


def revoke(token: ApiToken) -> None:
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])


def revoke_all(member: Membership) -> None:
    tokens_of(member).update(revoked_at=timezone.now())


def find_token(token: str) -> ApiToken | None:
    """Return a valid token and record its use; None if it is unknown, revoked or expired, or its person is no longer a member."""
    now = timezone.now()
    valid = ApiToken.objects.filter(revoked_at=None, expires_at__gt=now, membership__removed_at=None, membership__user__is_active=True)
    found = _with_digest(valid, token)
    if found is not None:
        _note_use(found, now)
    return found


def note_refused(token: str, act: str) -> None:
    """Record the use of an invalid token, at most once a minute, so that its holder cannot fill the log."""
    found = _with_digest(ApiToken.objects.all(), token)
    if found is not None and _note_use(found, timezone.now()) and settings.CHAINVIZ.mode == "team":
        record(found.membership.team, found.membership.user, act, REFUSED, token=found.pk)


def _with_digest(tokens: QuerySet[ApiToken], token: str) -> ApiToken | None:
    return tokens.select_related("membership__team", "membership__user").filter(token_digest=token_digest(token)).first()


def _note_use(token: ApiToken, now: datetime) -> bool:
    """Record the use. Return True if the token was not used within the last minute."""
    before = Q(last_used_at=None) | Q(last_used_at__lt=now - USE_NOTED_EVERY)
    return ApiToken.objects.filter(before, pk=token.pk).update(last_used_at=now) > 0


def token_digest(token: str) -> str:
    """Return the digest under which a token is stored."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
