"""People and their teams. The user model is our own, because Django cannot replace one later.

An account is never deleted, because chains, versions and the audit log refer to it. A member who leaves is marked as removed.
"""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models, transaction
from django.http import HttpRequest
from django.utils import timezone

from chainviz.accounts.permissions import PERMISSIONS, SCOPES, Permission, Role, Scope
from chainviz.store.prepared_query import PreparedQuery

__all__ = ["ApiToken", "AuditRow", "IdempotencyKey", "Invitation", "Membership", "SignInAttempt", "Team", "User"]

LOCAL_OWNER = "owner"
LOCAL_TEAM = "My team"


class User(AbstractUser):
    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.get_username()

    @property
    def initials(self) -> str:
        return initials_of(self.display_name)


def initials_of(name: str) -> str:
    words = name.split()
    return "".join(word[0] for word in (*words[:1], *words[1:][-1:])).upper()


class Team(models.Model):
    name = models.CharField(max_length=100)
    store_name = models.CharField(max_length=64, unique=True)
    """The store's name for the owner of the team's uploads. Uploads are append-only, so a team that began in local mode keeps the name
    `user:1`."""
    audit_number = models.PositiveBigIntegerField(default=0)
    """The number of the newest row in the audit log."""
    audit_digest = models.CharField(max_length=64, default="", blank=True)
    """The digest of that row, so that missing rows at the end are noticed."""

    def __str__(self) -> str:
        return self.name


class MembershipQuerySet(models.QuerySet["Membership"]):
    def active(self) -> MembershipQuerySet:
        return self.filter(removed_at=None, user__is_active=True)


class Membership(models.Model):
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role)
    joined_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True)

    objects = MembershipQuerySet.as_manager()

    token: ApiToken | None = None
    """The token of the request. It allows only a part of the role's permissions."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="member_once_a_team")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"

    @property
    def permissions(self) -> frozenset[Permission]:
        of_role = PERMISSIONS[Role(self.role)]
        return of_role if self.token is None else of_role & self.token.permissions

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions


class Invitation(models.Model):
    """An invitation link that makes the person with an e-mail address a member. Only the digest of its token is stored."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=10, choices=Role)
    token_digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.email} ({self.role})"

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()


class ApiToken(models.Model):
    """A token with which a program uses the API as a member of a team, for a limited time. Only its digest is stored."""

    membership = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=60)
    scopes = models.CharField(max_length=60)
    """The names of its scopes, separated by spaces."""
    beginning = models.CharField(max_length=12)
    """The first characters of the token."""
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.scopes})"

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    @property
    def permissions(self) -> frozenset[Permission]:
        return frozenset().union(*(SCOPES[Scope(name)] for name in self.scopes.split()))


class SignInAttempt(models.Model):
    """A failed or unfinished attempt to sign in, for throttling."""

    key = models.CharField(max_length=200, db_index=True)
    """`account:` and an e-mail address, or `client:` and an IP address."""
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.key} at {self.at}"


class IdempotencyKey(models.Model):
    """An idempotency key, so that a program can repeat a request. The row has only digests and ids, no content."""

    digest = models.CharField(max_length=64, unique=True)
    """The digest of the sender and the key."""
    request_digest = models.CharField(max_length=64)
    made = models.JSONField(null=True)
    """The ids of the objects that the request created; null while it is running."""
    at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.digest[:8]} at {self.at}"


def member_of(request: HttpRequest) -> Membership:
    """Return the sender of a request, as a member of the team whose pages they are viewing."""
    member: Any = getattr(request, "member", None)
    assert isinstance(member, Membership)
    return member


def person_of(request: HttpRequest) -> User:
    """Return the sender of a request. Every page requires a person who is signed in."""
    assert isinstance(request.user, User)
    return request.user


def local_member() -> Membership:
    """Return the owner of the first team, who sends every request in local mode. Creates the account on first use."""
    return next(iter(_first_owner()), None) or _make_local_member()


_first_owner = PreparedQuery(lambda: Membership.objects.active().filter(role=Role.OWNER).select_related("team", "user").order_by("pk")[:1])


@transaction.atomic
def _make_local_member() -> Membership:
    owner, created = User.objects.get_or_create(username=LOCAL_OWNER, defaults={"first_name": "You"})
    if created:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    team, _ = Team.objects.get_or_create(store_name=f"user:{owner.pk}", defaults={"name": LOCAL_TEAM})
    member, _ = Membership.objects.get_or_create(team=team, user=owner, defaults={"role": Role.OWNER})
    return member


def local_owner() -> User:
    return local_member().user


class AuditRow(models.Model):
    team = models.ForeignKey("accounts.Team", on_delete=models.PROTECT, related_name="audit_rows")
    number = models.PositiveBigIntegerField()
    """The number of the row; counts from 1 in the team."""
    at = models.DateTimeField()
    who = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    who_name = models.CharField(max_length=320)
    """The name of the person at that time."""
    act = models.CharField(max_length=60)
    """The name of the address, or a word of words.py."""
    outcome = models.CharField(max_length=10)
    chain_key = models.BigIntegerField(null=True, db_index=True)
    """The key of the chain; a plain number, so that the row outlives the chain."""
    details = models.TextField()
    """The details as a JSON object in ASCII."""
    previous = models.CharField(max_length=64)
    """The digest of the previous row; empty for the first."""
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["team", "number"], name="audit_row_numbered_once")]

    def __str__(self) -> str:
        return f"audit row {self.number} of team {self.team_id}"

    @property
    def facts(self) -> dict[str, Any]:
        return dict(json.loads(self.details))
