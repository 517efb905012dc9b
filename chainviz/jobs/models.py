"""The row of a job: its progress for pages, and the lease of the worker that runs it."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models

from chainviz.accounts.models import User


class AsciiJSONField(models.Field):  # type: ignore[type-arg]
    """A field with JSON as ASCII text, because PostgreSQL's own JSON refuses NUL and lone surrogates, which occur in transcripts."""

    def get_internal_type(self) -> str:
        return "TextField"

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=True)

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the value itself, like Django's JSONField, because serializers encode it."""
        return self.value_from_object(obj)


class JobQuerySet(models.QuerySet["Job"]):
    def visible_to(self, user: User | int) -> JobQuerySet:
        return self.filter(owner=user)

    def about(self, chain: Any) -> JobQuerySet:
        """Return the jobs whose arguments name the chain, started by anybody."""
        args = self.filter(args__contains=f'"chain": {chain.pk}').values_list("pk", "args")
        return self.filter(pk__in=[pk for pk, each in args if each.get("chain") == chain.pk])

    def unfinished(self) -> JobQuerySet:
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])


class Job(models.Model):
    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        INTERRUPTED = "interrupted"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="jobs")
    function = models.CharField(max_length=200)
    """A name of settings.JOBS."""
    args = AsciiJSONField()
    state = models.CharField(max_length=12, choices=State, default=State.QUEUED)
    progress = models.FloatField(default=0)
    message = models.TextField(default="", blank=True)
    result = AsciiJSONField(null=True)
    cancel_requested = models.BooleanField(default=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=2)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField(null=True)
    """The time before which no worker starts it; null to start it immediately."""
    lease_until = models.DateTimeField(null=True)
    """The end of the worker's lease, while the job is running."""
    finished_at = models.DateTimeField(null=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["state", "lease_until"], name="job_state")]

    def __str__(self) -> str:
        return f"{self.function} ({self.state})"

    @property
    def is_finished(self) -> bool:
        return self.state not in {self.State.QUEUED, self.State.RUNNING}
