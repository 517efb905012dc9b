"""Checksums of stored rows, and the triggers that make tables append-only.

A checksum covers every column of its row, so that fsck finds any change. Columns are covered in the order of their names, without null
columns. Therefore a migration that adds a nullable column changes no checksum. A migration that fills a column must end with
`fill_checksums` for its table.

The database itself refuses to change or delete rows of an append-only table. Only a transaction with a row in `store_purge` may.
purge/delete.py writes that row first and removes it last, so no other transaction sees it. When a migration adds a column that is not
nullable, or alters or removes a column, SQLite recreates the table without its triggers. Such a migration must end with
`migrations.RunPython(protect_again(...))`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
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
                stored = renew_checksums(type(self), (self.pk,))
                if is_new:  # nobody else has changed the row, so its first edit need not read it again
                    self.checksum = stored[self.pk]

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


def renew_checksums(model: type[Checked], keys: Collection[Any]) -> dict[Any, bytes]:
    """Compute the checksums of rows again, store them, and return them by key."""
    rows: models.QuerySet[Checked] = models.QuerySet(model)
    found = {row.pk: row.computed_checksum() for row in rows.filter(pk__in=keys)}
    for key, checksum in found.items():
        rows.filter(pk=key).update(checksum=checksum)
    return found


def fill_checksums(
    rows: models.Manager[Any], covered: Callable[[Any], Iterable[object]] = lambda row: (), *, with_key: bool = True
) -> None:
    """Fill the checksums of rows in a migration, where models have no methods. Pass the model's `covered` and `with_key`."""
    for key in list(rows.values_list("pk", flat=True)):
        row = rows.get(pk=key)
        rows.filter(pk=key).update(checksum=checksum_of(row, covered(row), with_key=with_key))


TABLES = ("upload", "uploadchunk", "run", "template", "message", "body", "snapshot", "version")
EVENTS = ("update", "delete")
FUNCTION = """
CREATE OR REPLACE FUNCTION store_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM store_purge) THEN
        RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' is append-only', ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$
"""

Operation = Callable[[Any, Any], None]
"""A function for `migrations.RunPython`, which calls it with the apps and the schema editor."""


def protect(schema_editor: Any, tables: Sequence[str] = TABLES, prefix: str = "store_") -> None:
    """Create or replace the triggers of these tables. Table names are given without `prefix`."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FUNCTION)
    unprotect(schema_editor, tables, prefix)
    for table in tables:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(
                f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {prefix}{table} FOR EACH ROW EXECUTE FUNCTION store_append_only()"
            )
            continue
        for event in EVENTS:
            schema_editor.execute(
                f"CREATE TRIGGER {prefix}{table}_no_{event} BEFORE {event} ON {prefix}{table}"
                " WHEN NOT EXISTS (SELECT 1 FROM store_purge)"
                f" BEGIN SELECT RAISE(ABORT, '{prefix}{table} is append-only'); END"
            )


def unprotect(schema_editor: Any, tables: Sequence[str] = TABLES, prefix: str = "store_") -> None:
    for table in tables:
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(f"DROP TRIGGER IF EXISTS append_only ON {prefix}{table}")
            continue
        for event in EVENTS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {prefix}{table}_no_{event}")


def protect_again(*tables: str, prefix: str = "store_") -> Operation:
    """Return the operation that ends a migration which creates or recreates these tables; without names, all tables of the store."""
    return lambda apps, schema_editor: protect(schema_editor, tables or TABLES, prefix)
