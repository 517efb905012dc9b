"""A row of the audit log. Its table is append-only (store/append_only.py)."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models


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
