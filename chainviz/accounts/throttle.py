"""Slow down the guessing of passwords by limits of attempts for each account and each client address."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from chainviz.accounts.models import SignInAttempt

WINDOW = timedelta(minutes=15)
LIMITS = {"account": 10, "client": 50}
"""The most attempts in the time window."""


def begin_attempt(account: str, client: str) -> int:
    """Record an attempt before the password is checked, so that simultaneous attempts count too. Without an account, when another
    server checks the password, it counts only for the client.

    Returns the seconds to wait; 0 if the attempt may continue.
    """
    now = timezone.now()
    SignInAttempt.objects.filter(at__lt=now - WINDOW).delete()
    keys = {kind: f"{kind}:{value}" for kind, value in (("account", account), ("client", client)) if value}
    waits = [_wait(key, LIMITS[kind]) for kind, key in keys.items()]
    if not any(waits):
        SignInAttempt.objects.bulk_create(SignInAttempt(key=key, at=now) for key in keys.values())
    return max(waits)


def _wait(key: str, limit: int) -> int:
    times = list(SignInAttempt.objects.filter(key=key).order_by("-at").values_list("at", flat=True)[:limit])
    if len(times) < limit:
        return 0
    return max(1, int((times[-1] + WINDOW - timezone.now()).total_seconds()))


def end_attempt(account: str, client: str) -> None:
    """Delete the attempts of the account, and this attempt of the client, after a correct password."""
    SignInAttempt.objects.filter(key=f"account:{account}").delete()
    newest = SignInAttempt.objects.filter(key=f"client:{client}").order_by("-pk").first()
    if newest is not None:
        newest.delete()
