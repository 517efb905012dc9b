"""Back up a whole installation to one file while people work, and restore it into an empty SQLite or PostgreSQL database.

The file is gzipped JSON Lines: facts about the backup, one table row on each line, and the number of rows. It contains the secret key,
because the digests of deleted content depend on it.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.core.serializers import deserialize, serialize
from django.core.serializers.base import DeserializationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, connection, models, transaction
from django.db.migrations.loader import MigrationLoader

from chainviz.core.errors import Refused

NOT_KEPT = {
    "sessions.session", "contenttypes.contenttype", "auth.permission", "auth.group", "chains.arrival", "accounts.idempotencykey",
    "store.searchblock", "store.searchstate",
}  # fmt: skip
"""Tables that a backup leaves out: sessions (people sign in again), Django's own tables, files that wait for an import, keys of requests
and the search index (it is rebuilt)."""
WITHOUT_TABLES = {"account", "socialaccount"}
"""Apps of the single sign-on library, which have no content of ours."""
ROWS_AT_ONCE = 50
"""The number of rows read at once. A row may have a megabyte."""
KIND = "chainviz backup"
DAMAGED = "The backup is damaged or cut off. Nothing was restored."


class ExactEncoder(DjangoJSONEncoder):
    """A JSON encoder that keeps microseconds, which Django's encoder drops and checksums cover."""

    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime) else super().default(value)


def write_backup(file: IO[bytes]) -> int:
    """Write a backup and return the number of rows. The rows are from one moment, even if others write meanwhile."""
    with gzip.open(file, "wt", compresslevel=5, encoding="ascii", newline="\n") as lines, _one_moment():
        lines.write(json.dumps(_facts()) + "\n")
        for model in models_to_back_up():
            rows = model._base_manager.order_by("pk").iterator(chunk_size=ROWS_AT_ONCE)
            serialize("jsonl", rows, stream=lines, cls=ExactEncoder, ensure_ascii=True)
        count = sum(model._base_manager.count() for model in models_to_back_up())
        lines.write(json.dumps({"rows": count}) + "\n")
    return count


def restore_backup(path: Path) -> None:
    """Restore a backup into empty tables. Raises Refused, and changes nothing, if that is not possible."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as lines, transaction.atomic():
            facts = _read_facts(lines)
            _demand_empty()
            for row in deserialize("python", _rows(lines)):
                row.save(force_insert=True)
            _set_sequences()
    except (EOFError, gzip.BadGzipFile, zlib.error, ValueError, DeserializationError):
        raise Refused(DAMAGED) from None
    except DatabaseError as error:
        raise Refused(f"The database refuses a row of the backup: {error}. Nothing was restored.") from error
    _write_secret_key(facts["secret_key"])


def models_to_back_up() -> list[type[models.Model]]:
    kept = (model for model in apps.get_models(include_auto_created=True) if model._meta.app_label not in WITHOUT_TABLES)
    return [model for model in kept if model._meta.label_lower not in NOT_KEPT]


@contextmanager
def _one_moment() -> Iterator[None]:
    """Read one state of the database in every statement of the block, without blocking writers."""
    if connection.vendor == "postgresql":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _facts() -> dict[str, Any]:
    return {
        "kind": KIND,
        "chainviz": version("chainviz"),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "migrations": _migrations(),
        "secret_key": settings.SECRET_KEY,
    }


def _migrations() -> list[str]:
    """Return the newest migration of each app in this release."""
    return sorted(f"{app}.{name}" for app, name in MigrationLoader(None).graph.leaf_nodes())


def _read_facts(lines: IO[str]) -> dict[str, Any]:
    try:
        facts = json.loads(lines.readline())
        is_ours = facts["kind"] == KIND
    except (ValueError, TypeError, KeyError):
        is_ours = False
    if not is_ours:
        raise Refused("This file is not a chainviz backup.")
    if facts["migrations"] != _migrations():
        raise Refused(
            f"The backup was made by version {facts['chainviz']}, whose tables differ from those of {version('chainviz')}. "
            "Restore it with that version, then start this one."
        )
    return dict(facts)


def _rows(lines: IO[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows. Raises Refused if their number differs from the one in the last line."""
    for number, line in enumerate(lines):
        row = json.loads(line)
        if "rows" in row:
            if row["rows"] == number:
                return
            break
        if isinstance(row["pk"], list):
            del row["pk"]  # the fields hold a composite key too
        yield row
    raise Refused(DAMAGED)


def _demand_empty() -> None:
    for model in models_to_back_up():
        if model._base_manager.exists():
            raise Refused(
                "A backup can be restored only into an empty installation, and this one has content. "
                "Choose another CHAINVIZ_DATA or CHAINVIZ_DATABASE_URL."
            )


def _set_sequences() -> None:
    statements = connection.ops.sequence_reset_sql(no_style(), models_to_back_up())
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def _write_secret_key(key: str) -> None:
    path = settings.CHAINVIZ.data / "secret-key"
    path.touch(0o600)
    path.write_text(key)
