"""The folders of this machine that are listed."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from chainviz.accounts.models import Team


class Folder(models.Model):
    """Named on the command line of the server, or on the page of folders in local mode."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="folders")
    path = models.TextField()
    """The absolute path."""
    pattern = models.TextField(default="", blank=True)
    """The files to list, such as `**/*.jsonl`; "" for all that may be transcripts."""
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["path", "pattern"]

    def __str__(self) -> str:
        return f"folder {self.pk}"
