"""Tasks of the person who runs the server: create the first account of a team, reset a password, create API tokens."""

from __future__ import annotations

from collections.abc import Collection
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils.module_loading import import_string

from chainviz.accounts.audit.record import record
from chainviz.accounts.models import LOCAL_TEAM, Membership, Team, User, local_member
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import create_token


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
