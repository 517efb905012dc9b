"""API tokens: made by a person for a program, shown once, stored as a digest, never worth more than the person's role."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from hashlib import sha256

from django.db.models import Q, QuerySet
from django.utils import timezone

from chainviz.accounts.models import ApiToken, Membership

PREFIX = "cvz_"
SHOWN = 8
"""Characters at the beginning of a token by which a person tells it from others."""
USE_NOTED_EVERY = timedelta(minutes=1)


def create_token(member: Membership, name: str, scopes: Collection[str], days: int) -> tuple[ApiToken, str]:
    """Returns its row and the token, which nobody can find out later."""
    token = PREFIX + secrets.token_urlsafe(32)
    now = timezone.now()
    row = ApiToken.objects.create(
        membership=member,
        name=name,
        scopes=" ".join(scopes),
        beginning=token[:SHOWN],
        token_digest=_digest(token),
        created_at=now,
        expires_at=now + timedelta(days=days),
    )
    return row, token


def tokens_of(member: Membership) -> QuerySet[ApiToken]:
    """Returns those of the person in this team that nobody has revoked, the newest first."""
    return ApiToken.objects.filter(membership=member, revoked_at=None).order_by("-pk")


def revoke(token: ApiToken) -> None:
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])


def revoke_all(member: Membership) -> None:
    tokens_of(member).update(revoked_at=timezone.now())


def find_token(token: str) -> ApiToken | None:
    """Returns a valid token and notes that it was used; None for one that is unknown, revoked, expired, or of a person who
    is no longer a member."""
    now = timezone.now()
    valid = ApiToken.objects.filter(
        revoked_at=None, expires_at__gt=now, membership__removed_at=None, membership__user__is_active=True
    )
    found = valid.select_related("membership__team", "membership__user").filter(token_digest=_digest(token)).first()
    if found is not None:
        recently = now - USE_NOTED_EVERY
        same = ApiToken.objects.filter(pk=found.pk).filter(Q(last_used_at=None) | Q(last_used_at__lt=recently))
        same.update(last_used_at=now)
    return found


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
