"""What a team asks of a version before it is signed off, and whether its texts may be sent to a language model."""

from __future__ import annotations

from django.conf import settings
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
    external_writers = models.BooleanField(default=False)
    """Editors may have summaries written by the language model of the installation."""
    edition = models.PositiveIntegerField(default=0)
    """Counts the changes, so that saving an older form is a conflict."""

    def __str__(self) -> str:
        return f"rules of {self.team}"


def rules_of(team_id: int) -> TeamRules:
    """Returns the team's rules, or those of a team that has set none."""
    return TeamRules.objects.filter(team=team_id).first() or TeamRules(team_id=team_id)


def allows_external_writers(team_id: int) -> bool:
    """As settings.WRITERS_ALLOWED asks for it. Local mode has no rules: its one person chose the model."""
    return settings.CHAINVIZ.mode != "team" or rules_of(team_id).external_writers
