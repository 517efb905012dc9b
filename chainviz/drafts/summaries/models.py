"""A run of summaries and its pieces: the plan, the written texts and their writers. Nothing here is part of a chain."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.jobs.models import AsciiJSONField, Job


class SummaryRunQuerySet(models.QuerySet["SummaryRun"]):
    def visible_to(self, user: User) -> SummaryRunQuerySet:
        return self.filter(author=user, chain__trashed_at=None)


class SummaryRun(models.Model):
    """The summaries of one content of a chain. They are stored until they are used, so that a person can leave the page."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="summary_runs")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    draft = models.ForeignKey("drafts.Draft", on_delete=models.CASCADE, null=True, related_name="+")
    base = models.PositiveIntegerField()
    """The number of the version that it was planned on, or of the base of its draft."""
    snapshot = models.BigIntegerField()
    """The key of the snapshot that it was planned on."""
    size = models.BigIntegerField()
    options = AsciiJSONField()
    writer = models.CharField(max_length=20)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    """The latest job that writes all missing pieces."""
    warnings = AsciiJSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    taken_at = models.DateTimeField(null=True)
    """The time at which it became a step of a draft. If the step is undone, it can be applied again."""

    objects = SummaryRunQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["author", "snapshot"], name="summary_run_once_a_content")]

    def __str__(self) -> str:
        return f"summaries {self.pk} of chain {self.chain_id}"


class SummaryPiece(models.Model):
    """One summary: its place in the plan, its state and its text."""

    class State(models.TextChoices):
        WAITING = "waiting"
        WRITING = "writing"
        READY = "ready"
        FAILED = "failed"
        DECLINED = "declined"

    run = models.ForeignKey(SummaryRun, on_delete=models.CASCADE, related_name="pieces")
    key = models.CharField(max_length=100)
    first = models.CharField(max_length=60)
    last = models.CharField(max_length=60)
    reason = models.TextField()
    size = models.BigIntegerField()
    estimate = models.BigIntegerField()
    after = models.BigIntegerField(default=-1)
    """The size in bytes of the replacement; -1 if there is no text yet."""
    left = models.TextField(default="", blank=True)
    """The reason why the piece stays unchanged although it has a text."""
    in_plan = models.BooleanField(default=True)
    """False if the texts of other pieces made it unnecessary."""

    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    text = AsciiJSONField(default="")
    losses = AsciiJSONField(default=dict)
    author = models.CharField(max_length=200, default="", blank=True)
    """The author of the text, as the page shows it."""
    cause = models.TextField(default="", blank=True)
    """The reason why there is no text."""
    hint = models.TextField(default="", blank=True)
    """The person's instructions for the next attempt."""
    progress = models.FloatField(default=0)
    stage = models.TextField(default="", blank=True)
    seconds = models.FloatField(null=True)
    usage = AsciiJSONField(default=dict)
    """The usage of all attempts, as counted by the model's server: {"model": name, "tokens": [as core's TokenUsage]}."""
    attempts = models.PositiveIntegerField(default=0)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    """The job that is writing the piece."""
    claim = models.PositiveIntegerField(default=0)
    """The attempt of that job. Earlier attempts are dead and must not write."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="summary_piece_once_a_run")]

    def __str__(self) -> str:
        return f"{self.key} ({self.state})"

    @property
    def expected(self) -> int:
        """The size in bytes of the replacement, or its estimate."""
        if self.left or self.state in (self.State.FAILED, self.State.DECLINED):
            return self.size
        return self.after if self.after >= 0 else self.estimate
