"""Notices to people, the chains that they muted, and the people who look at a chain now."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chainviz.accounts.models import Membership
from chainviz.chains.models import Chain
from chainviz.review.models.requests import ReviewRequest, Verdict
from chainviz.review.models.threads import Comment


class NoticeQuerySet(models.QuerySet["Notice"]):
    def visible_to(self, member: Membership) -> NoticeQuerySet:
        """Select notices of the member's team on chains that are not in the bin."""
        return self.filter(person=member.user_id, chain__team=member.team_id, chain__trashed_at=None)


class Notice(models.Model):
    """A notice to one person about an act of somebody else. Its text is that of the comment, verdict or request."""

    class Kind(models.TextChoices):
        REQUEST = "request"
        VERDICT = "verdict"
        DISMISSED = "dismissed"
        MENTION = "mention"
        REPLY = "reply"

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=9, choices=Kind)
    version = models.PositiveIntegerField()
    actor_name = models.CharField(max_length=320)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    comment = models.ForeignKey(Comment, on_delete=models.CASCADE, null=True, related_name="notices")
    verdict = models.ForeignKey(Verdict, on_delete=models.CASCADE, null=True, related_name="notices")
    request = models.ForeignKey(ReviewRequest, on_delete=models.CASCADE, null=True, related_name="notices")

    objects = NoticeQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["person", "-id"], name="inbox_of_a_person")]

    def __str__(self) -> str:
        return f"{self.kind} for {self.person}"


class Mute(models.Model):
    """A person wants no notices of a chain. Review requests stay on the list of the inbox."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "person"], name="muted_once")]

    def __str__(self) -> str:
        return f"chain {self.chain_id} for {self.person}"


class MailChoice(models.Model):
    """A person wants notices as e-mail too."""

    person = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="mail_choice")
    is_on = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"mail for {self.person}"


class Presence(models.Model):
    """A person has a chain open."""

    chain = models.ForeignKey(Chain, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    version = models.PositiveIntegerField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["chain", "person"], name="present_once")]

    def __str__(self) -> str:
        return f"{self.person} at chain {self.chain_id}"
