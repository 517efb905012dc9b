"""A database as a text: an object with the document of each session under its id, the one changed last first."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import IO, NamedTuple

from chainviz.core.databases import DATABASES, database_in, look_into
from chainviz.core.databases.contract import Database, Look, Row
from chainviz.core.databases.snapshot import is_database, read_database
from chainviz.core.errors import DocumentError

_HELD = 1 << 24
_NAMED = 12
"""The most tables that a sentence lists."""


class DatabaseText(NamedTuple):
    file: IO[bytes]
    label: str
    """The label of the agent."""


def session_at(address: Path) -> tuple[Path, str] | None:
    """Return the database and the session's id of an address such as `opencode.db#ses_1`; None for every other path."""
    path, mark, id = str(address).rpartition("#")
    return (Path(path), id) if mark and id and not address.exists() and is_database(Path(path)) else None


def database_at(path: Path) -> Database:
    """Return the agent whose database a file is. Raises DocumentError for one of no agent."""

    def find(look: Look) -> Database:
        found = database_in(look)
        if found is None:
            names = sorted(name for name in look.tables if not name.startswith("sqlite_"))
            tables = ", ".join(name[:40] for name in names[:_NAMED]) or "none"
            agents = ", ".join(dict.fromkeys(each.label for each in DATABASES))
            raise DocumentError(f"This is an SQLite database with other tables (it has {tables}) than those that chainviz reads: {agents}.")
        return found

    return read_database(path, lambda connection: find(Look(connection)))


def sessions_with_messages(path: Path) -> list[str]:
    """Return the ids of the sessions that have messages, the one changed last first."""
    database = database_at(path)
    rows = look_into(path, database, lambda look: list(database.rows(look)))
    return [row["id"] for row in sorted(rows, key=_updated, reverse=True) if row.get("messages", 1)]


def _updated(row: Row) -> float:
    return row.get("updated") or 0.0


def session_text(path: Path, id: str) -> DatabaseText:
    """Return the text of one session. Raises DocumentError if the database has none of this id."""
    database = database_at(path)
    document = look_into(path, database, lambda look: database.document(look, id))
    if document is None:
        raise DocumentError(f"{path} holds no session “{id[:80]}”.")
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_HELD)  # noqa: SIM115
    file.write(document)
    return DatabaseText(file, database.label)


def database_text(path: Path, most: int) -> DatabaseText:
    """Return the text of all sessions, of at most `most` bytes. Raises DocumentError if there are none, or they are larger."""
    database = database_at(path)
    file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_HELD)  # noqa: SIM115

    def write(look: Look) -> int:
        file.seek(0)
        file.truncate()
        rows = sorted(database.rows(look), key=_updated, reverse=True)
        count = 0
        for row in rows:
            document = database.document(look, row["id"])
            if document is None or not row.get("messages", 1):
                continue
            file.write((",\n" if count else "{").encode() + json.dumps(row["id"]).encode() + b": " + document.rstrip())
            count += 1
            if file.tell() > most:
                raise DocumentError(
                    f"The sessions of this database are larger than {most // 1_000_000:,} MB; name one as {path.name}#ID, or export it."
                )
        file.write(b"}\n")
        return count

    try:
        if not look_into(path, database, write):
            raise DocumentError(f"This database of {database.label} holds no sessions with messages.")
    except BaseException:
        file.close()
        raise
    return DatabaseText(file, database.label)
