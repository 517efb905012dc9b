"""The SQLite databases in which agents keep their sessions, each session as the JSON that the agent's own export writes.

In reading order: `snapshot` (reading beside a running agent), `contract` (rows of one look, sessions), and the agents.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chainviz.core.backup_names import BACKUP, REPLACED
from chainviz.core.databases.contract import Database, Look, Row
from chainviz.core.databases.copilot_traces import CopilotTraces
from chainviz.core.databases.cursor import Cursor, CursorChat
from chainviz.core.databases.goose import Goose
from chainviz.core.databases.json_rows import Forge, KiroCLI, OpenWebUI, Zed
from chainviz.core.databases.opencode import Opencode
from chainviz.core.databases.session_tables import Crush, Devin, Hermes
from chainviz.core.databases.snapshot import read_database
from chainviz.core.databases.writing import write_database
from chainviz.core.errors import DocumentError, Refused

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """A session of a store, as it was read and as it should be."""

    id: str
    old: bytes
    new: bytes


OPENCODE, KILO, MIMO = (
    Opencode("opencode", "opencode", letters="oc", formats=("opencode",)),
    Opencode("kilo", "Kilo Code", letters="Kl"),
    Opencode("mimocode", "MiMo Code"),
)
CRUSH, GOOSE, HERMES, ZED, KIRO_CLI, OPEN_WEBUI, CURSOR = Crush(), Goose(), Hermes(), Zed(), KiroCLI(), OpenWebUI(), Cursor()
CURSOR_CHAT, FORGE, DEVIN, COPILOT_TRACES = CursorChat(), Forge(), Devin(), CopilotTraces()
DATABASES: tuple[Database, ...] = (
    *(OPENCODE, KILO, MIMO, CRUSH, GOOSE, HERMES, ZED, KIRO_CLI, OPEN_WEBUI, CURSOR),
    *(CURSOR_CHAT, FORGE, DEVIN, COPILOT_TRACES),
)


def look_into(path: Path, database: Database, work: Callable[[Look], T]) -> T:
    """Return what `work` reads of an agent's database. `work` may run more than once.

    Raises DocumentError if the database cannot be read, or is not one of this agent.
    """

    def read(look: Look) -> T:
        if not database.is_mine(look.tables):
            raise DocumentError(f"{path} has other tables than a database of {database.label} that chainviz can read.")
        return work(look)

    return read_database(path, lambda connection: read(Look(connection)))


def database_in(look: Look) -> Database | None:
    """Return the agent whose tables a database has; None for any other database."""
    return next((database for database in DATABASES if database.is_mine(look.tables)), None)


def write_sessions(path: Path, database: Database, changes: Sequence[Change]) -> Path:
    """Write changed sessions in one transaction, and return the backup of the database.

    Raises Refused, and changes nothing, where one of them is another one by now or the agent has the database open.
    """

    def write(connection: sqlite3.Connection) -> None:
        look = Look(connection)
        for change in changes:
            _refuse_changed(path, database.document(look, change.id) == change.old, change.id)
            database.write(connection, change.id, change.old, change.new)

    _refuse_reading_only(database)
    return write_database(path, write, BACKUP)


def restore_sessions(path: Path, database: Database, backup: Path, documents: Mapping[str, bytes]) -> Path:
    """Restore the rows of sessions from a backup, and return a backup of their present state. `documents` are the
    sessions as they are. Raises Refused, and changes nothing, if one of them was replaced meanwhile or the agent has
    the database open."""

    def rows(look: Look) -> dict[tuple[str, str], list[Row]]:
        named = [(table, column, id) for table, column in database.own_tables for id in documents]
        return {(table, id): list(look.select(f'SELECT * FROM "{table}" WHERE "{column}" = ?', id)) for table, column, id in named}

    def write(connection: sqlite3.Connection) -> None:
        look = Look(connection)
        for id, document in documents.items():
            _refuse_changed(path, database.document(look, id) == document, id)
            for table, column in reversed(database.own_tables):
                connection.execute(f'DELETE FROM "{table}" WHERE "{column}" = ?', (id,))
            for table, _ in database.own_tables:
                for row in kept[table, id]:
                    names = ", ".join(f'"{name}"' for name in row)
                    connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({", ".join("?" * len(row))})', [*row.values()])

    kept = look_into(backup, database, rows)
    _refuse_reading_only(database)
    return write_database(path, write, REPLACED)


def _refuse_changed(path: Path, is_same: bool, id: str) -> None:
    if not is_same:
        raise Refused(f"{path}: the session {id} changed after it was read. Stop its agent and try again.")


def _refuse_reading_only(database: Database) -> None:
    if not database.writes:
        raise Refused(f"chainviz only reads databases of {database.label}; convert the session for another agent.")
