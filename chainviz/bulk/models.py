"""A bulk run: an act, its options, and a row with the outcome for each chain."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chainviz.accounts.models import Membership, Team
from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.jobs.models import AsciiJSONField, Job

PURGES, PURGE_JOB, UNPURGED = "purges", "purge", "unpurged"
"""Keys in the facts of a row: its recipe ends in a purge of the masked values, the number of that purge after a person confirmed it,
and that no value in the chain could be searched for."""


class BulkRunQuerySet(models.QuerySet["BulkRun"]):
    def visible_to(self, member: Membership) -> BulkRunQuerySet:
        """Select the person's own runs."""
        return self.filter(team=member.team_id, author=member.user_id)

    def of_team(self, member: Membership) -> BulkRunQuerySet:
        """Select the runs of everybody on the team, since an owner confirms what the run of an editor asks for."""
        return self.filter(team=member.team_id)

    def waiting_for_purge(self) -> BulkRunQuerySet:
        return self.filter(awaits_purge=True, undone_by=None)


class BulkRun(models.Model):
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="bulk_runs")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="bulk_runs")
    act = models.CharField(max_length=32)
    """Name of an act (acts/__init__.py)."""
    options = AsciiJSONField(default=dict)
    """The options that differ from their defaults."""
    created_at = models.DateTimeField()
    """The time at which its chains were chosen, or at which it was started."""
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    """The latest job; null while the person chooses options."""
    undoes = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="undone_by")
    awaits_purge = models.BooleanField(default=False)
    """The recipe ends in a purge of the masked values, and nobody has confirmed it for all chains."""

    objects = BulkRunQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.act} in bulk, run {self.pk}"


class BulkRow(models.Model):
    class Outcome(models.TextChoices):
        WAITING = "waiting"
        CHANGED = "changed"
        UNCHANGED = "unchanged"
        REFUSED = "refused"

    run = models.ForeignKey(BulkRun, on_delete=models.CASCADE, related_name="rows")
    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="+")
    outcome = models.CharField(max_length=9, choices=Outcome, default=Outcome.WAITING)
    text = models.TextField(default="", blank=True)
    """A sentence about the outcome."""
    before = models.PositiveIntegerField(null=True)
    after = models.PositiveIntegerField(null=True)
    """The numbers of the changed version and of the new one."""
    draft = models.ForeignKey(Draft, on_delete=models.SET_NULL, null=True, related_name="+")
    """The draft, while the new version is made. A worker that takes over the job starts this chain again."""
    facts = AsciiJSONField(default=dict)
    """The values that the undo and the report need."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "chain"], name="bulk_row_once_a_chain")]

    def __str__(self) -> str:
        return f"chain {self.chain_id} of run {self.run_id}: {self.outcome}"
