"""Requests for a review, the verdicts that answer them, and the sections that a person has viewed.

Names of people are copied, so that a verdict outlives its author's membership.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q

from chainviz.chains.models import Chain
from chainviz.store.checksums import Checked, renew_checksums


class Review(Checked):
    """All requests, verdicts and labels of a chain: fsck misses one that is gone, and writers wait for each other here."""

    chain = models.OneToOneField(Chain, on_delete=models.CASCADE, primary_key=True, related_name="review")

    def __str__(self) -> str:
        return f"review of chain {self.chain_id}"

    def covered(self) -> Iterable[object]:
        """Its requests, verdicts and labels."""
        for rows in ("review_requests", "review_verdicts", "labels"):
            yield list(getattr(self.chain, rows).order_by("pk").values_list("pk", flat=True))


class OfReview(Checked):
    """A row that belongs to the review of its chain."""

    class Meta(Checked.Meta):
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        is_new = self._state.adding
        with transaction.atomic(savepoint=False):
            super().save(*args, **kwargs)
            if is_new:
                renew_checksums(Review, [self.chain_id])  # type: ignore[attr-defined]

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic(savepoint=False):
            gone = super().delete(*args, **kwargs)
            renew_checksums(Review, [self.chain_id])  # type: ignore[attr-defined]
        return gone


class ReviewRequest(OfReview):
    """Asks people for a verdict on a version. A chain has at most one that is open."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="review_requests")
    version = models.PositiveIntegerField()
    """The newest version for which somebody was asked."""
    purpose = models.TextField(default="", blank=True)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    requested_by_name = models.CharField(max_length=320)
    requested_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    closed_by_name = models.CharField(max_length=320, default="", blank=True)

    class Meta(Checked.Meta):
        constraints = [models.UniqueConstraint(fields=["chain"], condition=Q(closed_at=None), name="one_open_request")]

    def __str__(self) -> str:
        return f"review request {self.pk} of chain {self.chain_id}"

    def covered(self) -> Iterable[object]:
        """Its reviewers."""
        return self.reviewers.order_by("pk").values_list("pk", flat=True)


class Reviewer(Checked):
    """A person who was asked."""

    request = models.ForeignKey(ReviewRequest, on_delete=models.CASCADE, related_name="reviewers")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=320)
    version = models.PositiveIntegerField()
    """The version they were asked about last."""
    asked_at = models.DateTimeField()

    class Meta(Checked.Meta):
        constraints = [models.UniqueConstraint(fields=["request", "person"], name="reviewer_asked_once")]

    def __str__(self) -> str:
        return f"{self.name} for request {self.request_id}"


class Verdict(OfReview):
    """What a person said about a version. Of several on one version the newest counts."""

    class Kind(models.TextChoices):
        COMMENT = "comment"
        CHANGES = "changes", "Needs changes"
        APPROVE = "approve"

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="review_verdicts")
    version = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind)
    summary = models.TextField(default="", blank=True)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=320)
    given_at = models.DateTimeField()
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by_name = models.CharField(max_length=320, default="", blank=True)
    dismissal = models.TextField(default="", blank=True)
    """Why it was dismissed."""

    def __str__(self) -> str:
        return f"{self.kind} of version {self.version} by {self.name}"

    @property
    def is_dismissed(self) -> bool:
        return self.dismissed_at is not None


class Viewed(models.Model):
    """A section that a person has viewed. The mark names its content, so a change of the section clears it."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    mark = models.CharField(max_length=32)
    """Keyed digest of the section's messages: it does not help to guess them."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "person", "mark"], name="section_viewed_once")]

    def __str__(self) -> str:
        return f"section {self.mark} of chain {self.chain_id}"
