"""Tables beside the chains: settings of the library, listed folders, working copies, and links to read one version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import models
from django.http import QueryDict
from django.utils import timezone

from chainviz.accounts.models import Membership, Team
from chainviz.jobs.models import AsciiJSONField
from chainviz.sessions_index.models import Session
from chainviz.store.checksums import Checked, CheckedQuerySet


class Folder(models.Model):
    """Named on the command line of the server, or on the page of folders in local mode."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="folders")
    path = models.TextField()
    """The absolute path."""
    pattern = models.TextField(default="", blank=True)
    """The files to list, such as `**/*.jsonl`; "" for all that may be transcripts."""
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["path", "pattern"]

    def __str__(self) -> str:
        return f"folder {self.pk}"


class WorkingCopy(models.Model):
    """A chain that was made by opening a session, and not by a person who wanted to have it."""

    chain = models.OneToOneField("chains.Chain", on_delete=models.CASCADE, primary_key=True, related_name="working_copy")
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="copies")
    """The session; null if it is no longer in its store."""
    opened_at = models.DateTimeField()
    """When the session was last opened."""
    is_kept = models.BooleanField(default=False)
    """True once something was done with it; it is then an ordinary chain."""

    def __str__(self) -> str:
        return f"working copy {self.chain_id}"


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


class ColumnChoice(models.Model):
    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="+")
    columns = AsciiJSONField()
    """The names of the visible columns, in the order of columns.py."""

    def __str__(self) -> str:
        return f"columns of {self.user_id}"


class SavedFilterQuerySet(CheckedQuerySet["SavedFilter"]):
    def visible_to(self, member: Membership) -> SavedFilterQuerySet:
        """Select the person's own rows in one team."""
        return self.filter(team=member.team_id, owner=member.user_id)


class SavedFilter(Checked):
    """A saved filter of a person. Its name and query may quote content, so purge, scan, fsck and backup include them."""

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="saved_filters")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    query = models.TextField()
    """The query string that Filter.address writes."""

    objects = SavedFilterQuerySet.as_manager()  # type: ignore[misc]

    class Meta(Checked.Meta):
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["team", "owner", "name"], name="filter_named_once")]

    def __str__(self) -> str:
        return self.name

    def purged(self, blank: Callable[[Any], Any]) -> dict[str, Any]:
        """Return its columns without purged values, which the query contains as an address spells them."""
        old = QueryDict(self.query)
        new = old.copy()
        for name, values in old.lists():
            new.setlist(name, [blank(value) for value in values])
        return {"name": blank(self.name), "query": self.query if new == old else new.urlencode()}
