"""Values that are worked out once for a snapshot and then read from one table (models.Derived)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.db import DatabaseError
from django.db.models import OuterRef, Subquery

from chainviz.store.content.codec import pack, unpack
from chainviz.store.models import Derived, Snapshot


@dataclass(frozen=True)
class DerivedKind:
    """A kind of value. Raise `version` when the code gives another value for the same snapshot."""

    name: str
    version: int

    def get(
        self, snapshot: Snapshot, make: Callable[[], Any], key: str = "", content: bytes | memoryview | None = None
    ) -> Any:
        """Return the stored value; if there is none, call `make` and store its result. The value is JSON. `content`: what another
        query has read of it (`column`)."""
        if content is None:
            found = Derived.objects.filter(snapshot=snapshot, kind=self.name, key=key, version=self.version)
            content = found.values_list("content", flat=True).first()
        if content is not None:
            return unpack(content)
        value = make()
        row = Derived(snapshot=snapshot, kind=self.name, key=key, version=self.version, content=pack(value))
        with suppress(DatabaseError):  # on a full disk pages are shown all the same
            Derived.objects.bulk_create(
                [row], update_conflicts=True, update_fields=["version", "content"], unique_fields=["snapshot", "kind", "key"]
            )
        return value

    def column(self, snapshot: str, key: str = "") -> Subquery:
        """The content as a column of another query; `snapshot` names the query's field that leads to the snapshot."""
        found = Derived.objects.filter(snapshot=OuterRef(snapshot), kind=self.name, key=key, version=self.version)
        return Subquery(found.values("content")[:1])
