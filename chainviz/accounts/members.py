"""Members of a team: their roles, and leaving. A team keeps at least one owner; removing a member deletes nothing, but
revokes the tokens of their programs: who comes back makes new ones."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.accounts.permissions import Role
from chainviz.accounts.tokens import revoke_all

LAST_OWNER = "A team keeps at least one owner. Make somebody else an owner first."


def members_of(team: Team) -> QuerySet[Membership]:
    return Membership.objects.active().filter(team=team).select_related("user").order_by("user__first_name", "pk")


@transaction.atomic
def change_role(member: Membership, role: Role) -> None:
    """Raises ValidationError for the last owner."""
    if role != Role.OWNER:
        _keep_an_owner(member)
    member.role = role
    member.save(update_fields=["role"])


@transaction.atomic
def remove(member: Membership) -> None:
    """Raises ValidationError for the last owner."""
    _keep_an_owner(member)
    member.removed_at = timezone.now()
    member.save(update_fields=["removed_at"])
    revoke_all(member)


def _keep_an_owner(member: Membership) -> None:
    # two owners who remove each other at the same moment take turns
    Team.objects.select_for_update().get(pk=member.team_id)
    owners = Membership.objects.active().filter(team=member.team_id, role=Role.OWNER)
    if not owners.exclude(pk=member.pk).exists():
        raise ValidationError(LAST_OWNER)
