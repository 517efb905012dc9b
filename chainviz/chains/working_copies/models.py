"""The table of working copies: chains that were made by opening a session."""

from __future__ import annotations

from django.db import models

from chainviz.sessions_index.models import Session


class WorkingCopy(models.Model):
    """A chain that was made by opening a session, and not by a person who wanted to have it."""

    chain = models.OneToOneField("chains.Chain", on_delete=models.CASCADE, primary_key=True, related_name="working_copy")
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="copies")
    """The session; null if it is no longer in its store."""
    opened_at = models.DateTimeField()
    """When the session was last opened."""
    is_kept = models.BooleanField(default=False)
    """True once something was done with it; it is then an ordinary chain."""

    def __str__(self) -> str:
        return f"working copy {self.chain_id}"
