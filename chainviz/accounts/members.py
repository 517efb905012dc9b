"""Members of a team: their roles and removal. A team always has at least one owner. The removal of a member deletes nothing, but
revokes the member's tokens."""

from __future__ import annotations

import secrets
from datetime import timedelta
from hashlib import sha256

from django.contrib.auth.hashers import make_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chainviz.accounts.models import Invitation, Membership, Team, User
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import revoke_all

LAST_OWNER = "A team keeps at least one owner. Make somebody else an owner first."


def members_of(team: Team) -> QuerySet[Membership]:
    return Membership.objects.active().filter(team=team).select_related("user").order_by("user__first_name", "pk")


@transaction.atomic
def change_role(member: Membership, role: Role) -> None:
    """Raise ValidationError for the last owner."""
    if role != Role.OWNER:
        _keep_an_owner(member)
    member.role = role
    member.save(update_fields=["role"])


@transaction.atomic
def remove(member: Membership) -> None:
    """Raise ValidationError for the last owner."""
    _keep_an_owner(member)
    member.removed_at = timezone.now()
    member.save(update_fields=["removed_at"])
    revoke_all(member)


def _keep_an_owner(member: Membership) -> None:
    # locked, so that two owners cannot remove each other at the same moment
    Team.objects.select_for_update().get(pk=member.team_id)
    owners = Membership.objects.active().filter(team=member.team_id, role=Role.OWNER)
    if not owners.exclude(pk=member.pk).exists():
        raise ValidationError(LAST_OWNER)


# Invitations. An owner creates one and sends its link. It is valid once, for seven days, and for one e-mail address.


VALID_FOR = timedelta(days=7)


def invite(owner: Membership, email: str, role: Role) -> str:
    """Create an invitation and return the token of its link. Revokes an open invitation for the same address. Raises ValidationError."""
    address = email.strip().lower()
    if Membership.objects.active().filter(team=owner.team, user__username=address).exists():
        raise ValidationError(f"{address} is already a member.")
    open_invitations(owner).filter(email=address).update(revoked_at=timezone.now())
    token = secrets.token_urlsafe(32)
    Invitation.objects.create(
        team=owner.team, email=address, role=role, token_digest=_digest(token), invited_by=owner.user, expires_at=timezone.now() + VALID_FOR
    )
    return token


def open_invitations(member: Membership) -> QuerySet[Invitation]:
    """Return the team's invitations that nobody has accepted or revoked, including expired ones."""
    return Invitation.objects.filter(team=member.team_id, accepted_at=None, revoked_at=None)


def find_invitation(token: str) -> Invitation | None:
    """Return the invitation with a token; None if it is unknown, used, revoked or expired, without telling which."""
    valid = Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    return valid.select_related("team", "invited_by").filter(token_digest=_digest(token)).first()


@transaction.atomic
def accept(invitation: Invitation, user: User) -> Membership:
    """Accept an invitation. Raises ValidationError if it was accepted or revoked meanwhile."""
    mine = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
    if not mine.update(accepted_at=timezone.now()):
        raise ValidationError("This invitation was used or revoked meanwhile.")
    member, _ = Membership.objects.update_or_create(team=invitation.team, user=user, defaults={"role": invitation.role, "removed_at": None})
    return member


@transaction.atomic
def join(invitation: Invitation, name: str, password: str) -> Membership:
    """Create an account and accept the invitation. Raises ValidationError."""
    user = User(username=invitation.email, email=invitation.email, first_name=name)
    user.set_password(password)
    user.save()
    return accept(invitation, user)


@transaction.atomic
def accept_all(email: str, name: str) -> User | None:
    """Accept all open invitations for an e-mail address that was verified to be the person's. A new account has no password.

    Returns None if there is no invitation, or the account is disabled.
    """
    valid = Invitation.objects.filter(email=email, accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())
    found = list(valid.select_for_update())
    if not found:
        return None
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())
    facts = {"email": email, "first_name": shown[:150] or email.partition("@")[0], "password": make_password(None)}
    user, _ = User.objects.get_or_create(username=email, defaults=facts)
    if not user.is_active:
        return None
    for invitation in found:
        accept(invitation, user)
    return user


def _digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()
