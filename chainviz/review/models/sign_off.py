"""Sign-offs: who let a version leave the team, when, and what had been checked; and certificates: who took it out, for whom.
Their table is append-only.

A row outlives its chain, so it holds no text of it: numbers, digests and names of people.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models

from chainviz.accounts.models import Team
from chainviz.store.checksums import Checked, CheckedQuerySet
from chainviz.store.content.codec import unpack

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
    """Of the history. A purge makes another: then the content is not what was signed off."""
    who = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    who_name = models.CharField(max_length=320)
    at = models.DateTimeField()
    format = models.CharField(max_length=40)
    sha256 = models.CharField(max_length=64)
    """Of the chain as a file in its own format."""
    size = models.BigIntegerField()
    """Bytes of that file."""
    recipient = models.CharField(max_length=LONGEST_RECIPIENT, null=True)  # noqa: DJ001 - null is no certificate
    """Of a certificate: who receives the file. Null: the row is a sign-off."""
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
        """What sign_off/facts.py or certificates/services.py wrote: approvals, checks, what was taken out, what was searched."""
        return unpack(self.packed)
