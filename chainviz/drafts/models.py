"""A person's draft of a chain. The store has its base, steps and cursor under `key`; this table adds the owner."""

from __future__ import annotations

from functools import cached_property

from django.conf import settings
from django.db import models
from django.db.models import Q

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.drafts.operations.presets import Preset
from chainviz.drafts.summaries.models import SummaryPiece, SummaryRun
from chainviz.store.checksums import Checked, CheckedQuerySet
from chainviz.store.history.drafts import read_draft
from chainviz.store.models import Draft as StoreDraft

__all__ = ["Draft", "DraftQuerySet", "Preset", "SummaryPiece", "SummaryRun"]


class DraftQuerySet(CheckedQuerySet["Draft"]):
    def visible_to(self, user: User | int) -> DraftQuerySet:
        return self.filter(author=user, chain__trashed_at=None)

    def open(self) -> DraftQuerySet:
        return self.filter(discarded_at=None, saved_as=None)


class Draft(Checked):
    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="drafts")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="drafts")
    key = models.BigIntegerField(unique=True)
    """The key of the draft in the store."""
    base = models.PositiveIntegerField()
    """The number of the version that it is based on."""
    created_at = models.DateTimeField(auto_now_add=True)
    discarded_at = models.DateTimeField(null=True)
    """A discarded draft is kept, so that discarding can be undone."""

    saved_as = models.PositiveIntegerField(null=True)
    """The number of the version that was saved from it; null for an unsaved draft."""

    objects = DraftQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chain", "author", "base"], condition=Q(discarded_at=None, saved_as=None), name="draft_once_a_base"
            )
        ]

    @cached_property
    def stored(self) -> StoreDraft:
        """The draft in the store, read once for this object."""
        return read_draft(self.key)

    def __str__(self) -> str:
        return f"draft {self.pk} of version {self.base}"
