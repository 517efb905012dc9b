"""What a team asks of a version before it is signed off."""

from __future__ import annotations

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from chainviz.accounts.models import Team

MOST_APPROVALS = 20


class TeamRules(models.Model):
    team = models.OneToOneField(Team, on_delete=models.CASCADE, primary_key=True, related_name="review_rules")
    approvals = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(0), MaxValueValidator(MOST_APPROVALS)]
    )
    no_open_threads = models.BooleanField(default=True)
    no_problems = models.BooleanField(default=False)
    no_secrets = models.BooleanField(default=False)
    locks_export = models.BooleanField(default=False)
    """No content leaves as a file before its version is signed off."""
    edition = models.PositiveIntegerField(default=0)
    """Counts the changes, so that saving an older form is a conflict."""

    def __str__(self) -> str:
        return f"rules of {self.team}"


def rules_of(team_id: int) -> TeamRules:
    """Returns the team's rules, or those of a team that has set none."""
    return TeamRules.objects.filter(team=team_id).first() or TeamRules(team_id=team_id)
