"""Keys of requests that a program may send again: who holds one, what its request made, and when it is forgotten.

A key is claimed before the work begins and finished in the transaction of the work, so a request that died has made
nothing: after `LONGEST` another one may take its key over. A unique column decides between several web processes.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from chainviz.accounts.models import IdempotencyKey, Membership
from chainviz.core.errors import Refused

KEPT_FOR = timedelta(hours=24)
LONGEST = timedelta(minutes=15)
"""How long a request may be under way."""


class Lost(Refused):
    """Another request took the key over, because this one took too long."""


def keyed_digest(*words: object) -> str:
    """Returns a digest that tells nothing to those who guess what was sent: it depends on the secret key."""
    return salted_hmac("chainviz.idempotency", "\n".join(map(str, words)), algorithm="sha256").hexdigest()


def digest_of(member: Membership, key: str) -> str:
    """Each token has keys of its own."""
    return keyed_digest(member.pk, member.token.pk if member.token else 0, key)


def claim(digest: str, request_digest: str) -> tuple[IdempotencyKey, bool]:
    """Returns the row of a key, and whether the request with it is to be done now."""
    now = timezone.now()
    IdempotencyKey.objects.filter(digest=digest, at__lt=now - KEPT_FOR).delete()
    row, is_new = IdempotencyKey.objects.get_or_create(
        digest=digest, defaults={"request_digest": request_digest, "at": now}
    )
    if is_new or row.request_digest != request_digest:
        return row, is_new
    died = IdempotencyKey.objects.filter(pk=row.pk, made__isnull=True, at__lt=now - LONGEST)
    is_taken_over = died.update(at=now) == 1
    row.at = now if is_taken_over else row.at
    return row, is_taken_over


def finish(row: IdempotencyKey, made: dict[str, Any]) -> None:
    """Part of the transaction of the work, which ends without effect where this raises Lost."""
    if not IdempotencyKey.objects.filter(pk=row.pk, at=row.at, made__isnull=True).update(made=made):
        if transaction.get_connection().in_atomic_block:
            transaction.set_rollback(True)
        raise Lost("The request took too long, and another one with the same key started. Nothing was changed.")


def release(row: IdempotencyKey) -> None:
    """The request was refused: it made nothing, and may be sent again."""
    IdempotencyKey.objects.filter(pk=row.pk, at=row.at, made__isnull=True).delete()


def forget_old() -> None:
    """A chore of the worker."""
    IdempotencyKey.objects.filter(at__lt=timezone.now() - KEPT_FOR).delete()
