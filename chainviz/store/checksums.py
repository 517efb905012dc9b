"""Checksums of stored rows. Each covers every column of its row, so that fsck finds any change.

Columns are covered in the order of their names, without null columns. Therefore a migration that adds a nullable column changes no
checksum. A migration that fills a column must end with `fill_checksums` for its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, ClassVar, TypeVar

from django.db import models, transaction
from django.db.models.expressions import DatabaseDefault
from django.utils import timezone

LENGTH = 8
NAME = "checksum"
"""Name of the column."""

Row = TypeVar("Row", bound="Checked")


def checksum_of(row: models.Model, covered: Iterable[object] = (), *, with_key: bool = True) -> bytes:
    """Return the checksum of a row without deferred fields. `covered` are values that it covers in addition to the columns."""
    digest = blake2b(digest_size=LENGTH)
    for field in sorted(row._meta.concrete_fields, key=lambda field: field.attname):
        value = field.get_prep_value(getattr(row, field.attname))
        is_left_out = field.name == NAME or (isinstance(field, models.AutoField) and not with_key)
        if value is not None and not is_left_out:
            _add(digest, field.attname, value)
    for number, each in enumerate(covered):
        _add(digest, str(number), each)
    return digest.digest()


def _add(digest: Any, name: str, value: object) -> None:
    content = _encoded(value)
    digest.update(b"%s:%d:" % (name.encode(), len(content)))
    digest.update(content)


def _encoded(value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if isinstance(value, bool):
        return b"1" if value else b"0"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().encode()
    return str(value).encode("utf-8", "surrogatepass")


class CheckedQuerySet(models.QuerySet[Row]):
    def update(self, **values: Any) -> int:
        """Update the rows and their checksums. The caller must make sure that nobody else changes the rows meanwhile."""
        with transaction.atomic(savepoint=False):
            keys = list(self.select_for_update().order_by().values_list("pk", flat=True))
            updated = models.QuerySet(self.model).filter(pk__in=keys).update(**values)
            renew_checksums(self.model, keys)
        return updated


class Checked(models.Model):
    """A row with a checksum, which `save` and `QuerySet.update` keep."""

    checksum = models.BinaryField(null=True, editable=False)

    is_append_only: ClassVar[bool] = False
    """The checksum does not cover the key of an append-only row, because the row cannot be updated after the database set the key."""
    objects = CheckedQuerySet.as_manager()

    class Meta:
        abstract = True
        base_manager_name = "objects"

    def save(self, *args: Any, **kwargs: Any) -> None:
        is_new = self._state.adding
        with transaction.atomic(savepoint=False):
            if is_new:
                self._take_database_defaults()
            if is_new and self.is_append_only:
                self.checksum = self.computed_checksum()
            super().save(*args, **kwargs)
            if not (is_new and self.is_append_only):
                renew_checksums(type(self), (self.pk,))

    def _take_database_defaults(self) -> None:
        """Set the defaults of the database, such as the time, in Python, because the checksum covers them."""
        for field in self._meta.concrete_fields:
            if isinstance(getattr(self, field.attname), DatabaseDefault):
                setattr(self, field.attname, timezone.now())

    def covered(self) -> Iterable[object]:
        """Return the values that the checksum covers in addition to the columns."""
        return ()

    def computed_checksum(self) -> bytes:
        return checksum_of(self, self.covered(), with_key=not self.is_append_only)


def renew_checksums(model: type[Checked], keys: Collection[Any]) -> None:
    rows: models.QuerySet[Checked] = models.QuerySet(model)
    for row in rows.filter(pk__in=keys):
        rows.filter(pk=row.pk).update(checksum=row.computed_checksum())


def fill_checksums(
    rows: models.Manager[Any], covered: Callable[[Any], Iterable[object]] = lambda row: (), *, with_key: bool = True
) -> None:
    """Fill the checksums of rows in a migration, where models have no methods. Pass the model's `covered` and `with_key`."""
    for key in list(rows.values_list("pk", flat=True)):
        row = rows.get(pk=key)
        rows.filter(pk=key).update(checksum=checksum_of(row, covered(row), with_key=with_key))
