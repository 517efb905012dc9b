"""Requests for a review, the verdicts that answer them, and the sections that a person has viewed.

Names of people are copied, so that a verdict outlives its author's membership.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.db.models import Q

from chainviz.accounts.models import Team
from chainviz.chains.models import Chain
from chainviz.store.checksums import Checked, CheckedQuerySet, renew_checksums
from chainviz.store.content.codec import unpack


class Review(Checked):
    """All requests, verdicts and labels of a chain. Its checksum reveals missing ones, and writers lock it to act one after another."""

    chain = models.OneToOneField(Chain, on_delete=models.CASCADE, primary_key=True, related_name="review")

    def __str__(self) -> str:
        return f"review of chain {self.chain_id}"

    def covered(self) -> Iterable[object]:
        """The rows that the checksum covers: the requests, verdicts and labels of the chain."""
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
    """The newest version for which a review was requested."""
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
        """The rows that the checksum covers: the reviewers of the request."""
        return self.reviewers.order_by("pk").values_list("pk", flat=True)


class Reviewer(Checked):
    """A person from whom a review was requested."""

    request = models.ForeignKey(ReviewRequest, on_delete=models.CASCADE, related_name="reviewers")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    name = models.CharField(max_length=320)
    version = models.PositiveIntegerField()
    """The version for which they were last asked."""
    asked_at = models.DateTimeField()

    class Meta(Checked.Meta):
        constraints = [models.UniqueConstraint(fields=["request", "person"], name="reviewer_asked_once")]

    def __str__(self) -> str:
        return f"{self.name} for request {self.request_id}"


class Verdict(OfReview):
    """A person's verdict on a version. Of several on one version the newest counts."""

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
    """The reason for the dismissal."""

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
    """A keyed digest of the section's messages, which cannot be used to guess them."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "person", "mark"], name="section_viewed_once")]

    def __str__(self) -> str:
        return f"section {self.mark} of chain {self.chain_id}"


# What a team asks of a version before it is signed off, and whether its texts may be sent to a language model.


MOST_APPROVALS = 20


class TeamRules(models.Model):
    team = models.OneToOneField(Team, on_delete=models.CASCADE, primary_key=True, related_name="review_rules")
    approvals = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(0), MaxValueValidator(MOST_APPROVALS)])
    no_open_threads = models.BooleanField(default=True)
    no_problems = models.BooleanField(default=False)
    no_secrets = models.BooleanField(default=False)
    locks_export = models.BooleanField(default=False)
    """True if no content may be exported as a file before its version is signed off."""
    external_writers = models.BooleanField(default=False)
    """True if editors may use the language model of the installation for summaries."""
    edition = models.PositiveIntegerField(default=0)
    """Counts changes, so that saving an older form is a conflict."""

    def __str__(self) -> str:
        return f"rules of {self.team}"


def rules_of(team_id: int) -> TeamRules:
    """Return the team's rules, or those of a team that has set none."""
    return TeamRules.objects.filter(team=team_id).first() or TeamRules(team_id=team_id)


def allows_external_writers(team_id: int) -> bool:
    """Return True if the team allows writers outside the server; see settings.WRITERS_ALLOWED. Local mode has no rules:
    its one person chose the model."""
    return settings.CHAINVIZ.mode != "team" or rules_of(team_id).external_writers


def forbids_secrets(team_id: int) -> bool:
    """Return True if the team lets no version with secrets out by a link; see settings.SHARED_SECRETS_FORBIDDEN."""
    return rules_of(team_id).no_secrets


# Sign-offs: who let a version leave the team, when, and what had been checked; and certificates: who took it out, for
# whom. Their table is append-only. A row outlives its chain, so it holds no text of it: numbers, digests and names of
# people.


LONGEST_RECIPIENT = 120


class SignOffQuerySet(CheckedQuerySet["SignOff"]):
    def sign_offs(self) -> SignOffQuerySet:
        return self.filter(recipient=None)

    def certificates(self) -> SignOffQuerySet:
        return self.exclude(recipient=None)


class SignOff(Checked):
    is_append_only = True

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="sign_offs")
    number = models.PositiveIntegerField()
    """Counts from 1 in the team."""
    chain_key = models.BigIntegerField(db_index=True)
    version = models.PositiveIntegerField()
    edition = models.IntegerField()
    """The edition of the history. A purge changes it; the content is then not the one that was signed off."""
    who = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    who_name = models.CharField(max_length=320)
    at = models.DateTimeField()
    format = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)
    """The digest of the chain as a file in its own format."""
    size = models.BigIntegerField()
    """The size of that file in bytes."""
    recipient = models.CharField(max_length=LONGEST_RECIPIENT, null=True)  # noqa: DJ001 - null is no certificate
    """The recipient of the certificate's file; null for a sign-off."""
    packed = models.BinaryField()
    """See `record`."""

    objects = SignOffQuerySet.as_manager()  # type: ignore[misc]

    class Meta(Checked.Meta):
        constraints = [models.UniqueConstraint(fields=["team", "number"], name="sign_off_numbered_once")]

    def __str__(self) -> str:
        kind = "sign-off" if self.recipient is None else "certificate"
        return f"{kind} {self.number} of team {self.team_id}"

    @property
    def record(self) -> Any:
        """The facts that sign_off.py or review/certificates.py stored: approvals, checks, removed values, searches."""
        return unpack(self.packed)

    def as_json(self) -> dict[str, object]:
        """Return the sign-off or certificate as a JSON object for download."""
        number = {"sign_off": self.number} if self.recipient is None else {"certificate": self.number, "recipient": self.recipient}
        return {
            **number,
            "chain": self.chain_key,
            "version": self.version,
            "who": self.who_name,
            "at": self.at.isoformat(),
            "format": self.format,
            "sha256": self.sha256,
            "bytes": self.size,
            **self.record,
        }
