"""Personal settings in the library: visible columns and saved filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import models
from django.http import QueryDict

from chainviz.accounts.models import Membership, Team
from chainviz.jobs.models import AsciiJSONField
from chainviz.store.checksums import Checked, CheckedQuerySet


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
    """The query string, as written by Filter.address."""

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
