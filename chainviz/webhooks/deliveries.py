"""Announce events to the webhooks of a team, deliver the messages by jobs, and repeat what failed."""

from __future__ import annotations

import json
import secrets
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.jobs.tasks import JobContext, start_job, start_job_later
from chainviz.webhooks.models import Delivery, Webhook
from chainviz.webhooks.sending import post_signed

DELIVER = "deliver-webhook"
TEST = "webhook.test"
PAUSES = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
)
"""The pauses between the attempts: as Standard Webhooks recommends, for almost a day."""
KEPT_FOR = timedelta(days=30)
GONE = 410


def announce(team_id: int, event: Webhook.Event, path: str, **facts: Any) -> None:
    """Send an event to the team's webhooks that want it. Call it in the transaction that makes the event true.

    `path` is the page to open; the facts are ids, kinds and names of people, never content of a transcript.
    """
    if settings.CHAINVIZ.mode != "team":
        return
    for webhook in Webhook.objects.filter(team=team_id, is_active=True, events__contains=event.value):
        if event.value in webhook.events.split():
            queue(webhook, event.value, {**facts, "url": settings.CHAINVIZ.base_url + path})


@transaction.atomic
def queue(webhook: Webhook, event: str, data: dict[str, Any]) -> Delivery:
    """Write the message and start the job that sends it."""
    now = timezone.now()
    body = json.dumps({"type": event, "timestamp": now.isoformat(), "data": data})
    message_id = f"msg_{secrets.token_hex(16)}"
    delivery = Delivery.objects.create(
        webhook=webhook, message_id=message_id, event=event, body=body, created_at=now, next_at=now
    )
    start_job(DELIVER, owner=None, delivery=delivery.pk)
    return delivery


def deliver(context: JobContext, delivery: int) -> None:
    """Run the job, which makes one attempt. If it fails, the next job starts after a pause."""
    row = Delivery.objects.select_related("webhook").filter(pk=delivery, next_at__isnull=False).first()
    if row is None:
        return
    webhook = row.webhook
    row.attempts, row.tried_at, row.next_at = row.attempts + 1, timezone.now(), None
    if not webhook.is_active:
        row.outcome = "The webhook was switched off."
        row.save()
        return
    try:
        status = post_signed(webhook.url, webhook.key, row.message_id, row.body)
    except Refused as error:
        row.outcome = str(error)[:300]
    else:
        row.outcome = f"HTTP {status}"
        row.delivered_at = timezone.now() if 200 <= status < 300 else None
        if status == GONE:
            Webhook.objects.filter(pk=webhook.pk).update(is_active=False)
            row.outcome = "HTTP 410: the receiver wants no more messages, so the webhook was switched off."
    _finish(row)


@transaction.atomic
def _finish(row: Delivery) -> None:
    """Save the outcome and, where it failed, queue the next attempt in the same transaction."""
    row.next_at = _next_attempt(row)
    row.save()
    if row.next_at:
        start_job_later(row.next_at, DELIVER, delivery=row.pk)


def _next_attempt(row: Delivery) -> datetime | None:
    if (
        row.delivered_at
        or row.attempts > len(PAUSES)
        or not Webhook.objects.filter(pk=row.webhook_id, is_active=True).exists()
    ):
        return None
    return timezone.now() + PAUSES[row.attempts - 1]


def forget_old() -> None:
    """Delete deliveries that are older than the log goes back."""
    Delivery.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
