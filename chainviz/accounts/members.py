"""Members of a team: their roles and removal, and accounts that the person who runs the server creates or resets.

A team always has at least one owner.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from hashlib import sha256
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from chainviz.accounts.audit import record
from chainviz.accounts.models import LOCAL_TEAM, Invitation, Membership, Team, User, local_member
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token, revoke_all

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


@transaction.atomic
def create_owner(email: str, name: str, password: str, team: str = "") -> Membership:
    """Create an account that owns the named team, or the first one. Raises ValidationError.

    The owner of local mode, who has no password, becomes this account, because all stored content belongs to them.
    """
    address = email.strip().lower()
    validate_email(address)
    if User.objects.filter(username=address).exists():
        raise ValidationError(f"The account {address} already exists.")
    first = local_member()
    user = User() if first.user.has_usable_password() else first.user
    user.username = user.email = address
    user.first_name = name or address.partition("@")[0]
    validate_password(password, user)
    user.set_password(password)
    user.save()
    if user == first.user:
        import_string(settings.OWNER_NAMED)(user)
    owned = _team_for(first, user, team)
    member, _ = Membership.objects.update_or_create(team=owned, user=user, defaults={"role": Role.OWNER, "removed_at": None})
    record(owned, None, "createowner", member=user.display_name, account=address)
    return member


def _team_for(first: Membership, user: User, name: str) -> Team:
    """Return the team for the new owner: the team of local mode, renamed, or a new team if there are others."""
    if not name:
        return first.team
    known = Team.objects.filter(name=name).first()
    if known is not None:
        return known
    if user == first.user and first.team.name == LOCAL_TEAM:
        first.team.name = name
        first.team.save(update_fields=["name"])
        return first.team
    return Team.objects.create(name=name, store_name=f"team:{uuid4().hex}")


@transaction.atomic
def set_password(email: str, password: str) -> User:
    """Set a password and end all sessions of the account. Raises ValidationError."""
    user = User.objects.filter(username=email.strip().lower()).first()
    if user is None:
        raise ValidationError(f"There is no account {email}.")
    validate_password(password, user)
    user.set_password(password)
    user.save(update_fields=["password"])
    for member in Membership.objects.active().filter(user=user).select_related("team"):
        record(member.team, None, "changepassword", member=user.display_name, account=user.username)
    return user


@transaction.atomic
def make_token(name: str, scopes: Collection[str], days: int, account: str = "") -> str:
    """Create a token for an account in its first team, by default for the owner of local mode. Raises ValidationError."""
    if account:
        member = Membership.objects.active().filter(user__username=account.strip().lower()).order_by("pk").first()
    else:
        member = local_member()
    if member is None:
        raise ValidationError(f"There is no member {account}.")
    row, token = create_token(member, name, scopes, days)
    person = member.user.display_name
    record(member.team, None, "token", member=person, token=row.pk, scopes=" ".join(scopes), days=days)
    return token
