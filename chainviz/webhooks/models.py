"""Webhooks and the log of their deliveries. A message has ids, kinds and names of people, never content of a transcript."""

from __future__ import annotations

import base64
import secrets

from django.db import models
from django.utils.crypto import salted_hmac

from chainviz.accounts.models import Team

SECRET_PREFIX = "whsec_"
_SALT = "chainviz.webhooks"


def new_nonce() -> str:
    return secrets.token_urlsafe(24)


class Webhook(models.Model):
    """An address that gets a message for each event of the kinds that the team chose."""

    class Event(models.TextChoices):
        VERSION_SAVED = "version.saved", "A version is saved"
        REVIEW_REQUESTED = "review.requested", "A review is requested"
        VERDICT_GIVEN = "verdict.given", "A verdict is given"
        VERDICT_DISMISSED = "verdict.dismissed", "A verdict is dismissed"
        COMMENT_ADDED = "comment.added", "A thread is started or answered"
        THREAD_RESOLVED = "thread.resolved", "A thread is resolved"
        THREAD_REOPENED = "thread.reopened", "A thread is reopened"
        SIGNED_OFF = "version.signed_off", "A version is signed off"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.CharField(max_length=200)
    """Kinds of events, separated by spaces."""
    nonce = models.CharField(max_length=40, default=new_nonce)
    """The signing secret is derived from it and the installation's secret key, so no copy of the database has the secret."""
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"webhook {self.pk} of team {self.team_id}"

    @property
    def key(self) -> bytes:
        """The bytes that sign messages."""
        return salted_hmac(_SALT, f"{self.pk}:{self.nonce}", algorithm="sha256").digest()

    @property
    def secret(self) -> str:
        """The key as the receiver enters it."""
        return SECRET_PREFIX + base64.b64encode(self.key).decode()

    @property
    def event_labels(self) -> list[str]:
        chosen = self.events.split()
        return [str(event.label) for event in Webhook.Event if event.value in chosen]


class Delivery(models.Model):
    """A message to one webhook, and the result of its delivery."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    message_id = models.CharField(max_length=40, unique=True)
    event = models.CharField(max_length=30)
    body = models.TextField()
    """The JSON that is sent, the same in each attempt."""
    created_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=300, default="", blank=True)
    """The result of the last attempt in a few words of chainviz, which contain nothing from the server except its status."""
    tried_at = models.DateTimeField(null=True)
    next_at = models.DateTimeField(null=True)
    """The time of the next attempt; null after the last one."""
    delivered_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.event} {self.message_id}"

    @property
    def state(self) -> str:
        if self.delivered_at:
            return "delivered"
        return "waiting" if self.next_at else "failed"
