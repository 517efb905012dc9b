"""Announce events to the webhooks of a team, deliver the messages by jobs, and repeat what failed.

A signed message is as Standard Webhooks describes it, and goes to a public address only, without following redirects. The name is
resolved once and the connection goes to that very address: a name whose answer changes between the check and the connection leads
nowhere else.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import Timer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.jobs.tasks import JobContext, start_job, start_job_later
from chainviz.webhooks.models import Delivery, Webhook

DELIVER = "deliver-webhook"
TEST = "webhook.test"
PAUSES = (timedelta(seconds=5), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=5), timedelta(hours=10))
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
    delivery = Delivery.objects.create(webhook=webhook, message_id=message_id, event=event, body=body, created_at=now, next_at=now)
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
    if row.delivered_at or row.attempts > len(PAUSES) or not Webhook.objects.filter(pk=row.webhook_id, is_active=True).exists():
        return None
    return timezone.now() + PAUSES[row.attempts - 1]


def forget_old() -> None:
    """Delete deliveries that are older than the log goes back."""
    Delivery.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()


SECONDS = 10
"""The seconds for one attempt as a whole, however slowly the server answers."""
IPAddress = IPv4Address | IPv6Address
TRANSLATED = ip_network("64:ff9b::/96")
"""IPv6 addresses that a gateway turns into the IPv4 address in their last four bytes."""


def post_signed(url: str, key: bytes, message_id: str, body: str) -> int:
    """Send the message and return the HTTP status. Raises Refused with a sentence if it could not be sent."""
    parts = check_address(url)
    address = resolve(parts)
    content, now = body.encode(), int(time.time())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "chainviz",
        "webhook-id": message_id,
        "webhook-timestamp": str(now),
        "webhook-signature": sign(key, message_id, now, content),
    }
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        with _connected(parts, address) as connection:
            connection.request("POST", path, content, headers)
            return connection.getresponse().status
    except ssl.SSLCertVerificationError as error:
        raise Refused(f"The certificate is not valid: {error.verify_message}.") from None
    except (OSError, HTTPException) as error:
        raise Refused(f"The server did not answer ({type(error).__name__}).") from None


def sign(key: bytes, message_id: str, timestamp: int, content: bytes) -> str:
    """Return the value of `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + content
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


def check_address(url: str) -> SplitResult:
    """Return the parts of an address that can be a webhook's. Raises Refused for any other."""
    try:
        parts = urlsplit(url)
        _ = parts.port
        parts.hostname and parts.hostname.encode("idna")
    except ValueError:  # UnicodeError is one
        raise Refused("This is not a web address.") from None
    if parts.scheme not in {"https", "http"} or not parts.hostname:
        raise Refused("Enter an address that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise Refused("The address must not contain a user name or password.")
    if any(not 32 < ord(sign) < 127 for sign in url):
        raise Refused("Encode spaces and other special characters of the address.")
    return parts


def resolve(parts: SplitResult) -> IPAddress:
    """Return the address to connect to. Raises Refused unless each address of the name may be reached."""
    host = parts.hostname or ""
    try:
        answers = socket.getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
        found = [ip_address(str(answer[4][0]).partition("%")[0]) for answer in answers]
    except (OSError, ValueError, UnicodeError):
        raise Refused(f"The name {host} cannot be resolved.") from None
    private = [address for address in found if not is_public(address)]
    if any(not _is_allowed(address) for address in private):
        raise Refused("The address leads into a private network. CHAINVIZ_WEBHOOK_NETWORKS can allow it.")
    if parts.scheme == "http" and not private:
        raise Refused("Use https:// outside your own network.")
    return found[0]


def is_public(address: IPAddress) -> bool:
    """Return True for an address of the public internet. An IPv6 address that contains an IPv4 address is judged by that one."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if address in TRANSLATED:
            inner = IPv4Address(address.packed[-4:])
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def _is_allowed(address: IPAddress) -> bool:
    return any(address in network for network in settings.CHAINVIZ.webhook_network_list)


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


@contextmanager
def _connected(parts: SplitResult, address: IPAddress) -> Iterator[HTTPConnection]:
    """Connect to the address. A timer ends the connection, since a server that sends byte after byte never times out."""
    host, port = parts.hostname or "", _port(parts)
    connection = HTTPSConnection(host, port) if parts.scheme == "https" else HTTPConnection(host, port)
    connection.sock = socket.create_connection((str(address), port), timeout=SECONDS)
    timer = Timer(SECONDS, _shut_down, (connection,))
    timer.daemon = True
    timer.start()
    try:
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection.sock = context.wrap_socket(connection.sock, server_hostname=host, do_handshake_on_connect=False)
            connection.sock.do_handshake()
        yield connection
    finally:
        timer.cancel()
        connection.close()


def _shut_down(connection: HTTPConnection) -> None:
    with suppress(OSError):
        connection.sock.shutdown(socket.SHUT_RDWR)
