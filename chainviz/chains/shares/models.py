"""A link to read one version. It ends when it expires, is revoked, or the member who made it leaves."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from chainviz.accounts.models import Membership


class ShareLink(models.Model):
    chain = models.ForeignKey("chains.Chain", on_delete=models.CASCADE, related_name="shares")
    version = models.PositiveIntegerField()
    member = models.ForeignKey(Membership, on_delete=models.PROTECT, related_name="+")
    """The member who made the link."""
    token_digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    opened = models.PositiveIntegerField(default=0)
    last_opened_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"link {self.pk} to version {self.version}"

    @property
    def state(self) -> str:
        """`active`, `expired`, `revoked` or `ended` with the membership of its maker."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at <= timezone.now():
            return "expired"
        return "active" if self.member.removed_at is None and self.member.user.is_active else "ended"
