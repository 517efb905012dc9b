"""Cache values that are computed once for a snapshot, in one table (models.Derived)."""

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
    """A kind of cached value. Increase `version` when the code computes a different value for the same snapshot."""

    name: str
    version: int

    def get(self, snapshot: Snapshot, make: Callable[[], Any], key: str = "", content: bytes | memoryview | None = None) -> Any:
        """Return the stored value; if there is none, call `make` and store its result as JSON. `content` is the stored value, if another
        query has already read it with `column`."""
        if content is None:
            found = Derived.objects.filter(snapshot=snapshot, kind=self.name, key=key, version=self.version)
            content = found.values_list("content", flat=True).first()
        if content is not None:
            return unpack(content)
        value = make()
        row = Derived(snapshot=snapshot, kind=self.name, key=key, version=self.version, content=pack(value))
        with suppress(DatabaseError):  # pages work even if the disk is full
            Derived.objects.bulk_create(
                [row], update_conflicts=True, update_fields=["version", "content"], unique_fields=["snapshot", "kind", "key"]
            )
        return value

    def column(self, snapshot: str, key: str = "") -> Subquery:
        """Return the stored value as a column of another query. `snapshot` is the name of that query's field for the snapshot."""
        found = Derived.objects.filter(snapshot=OuterRef(snapshot), kind=self.name, key=key, version=self.version)
        return Subquery(found.values("content")[:1])
