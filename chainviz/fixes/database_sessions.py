"""Fix the sessions in an agent's database in one transaction, with one backup, and restore them one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chainviz.core.databases import Change, look_into, restore_sessions, write_sessions
from chainviz.core.databases.contract import Database, Look
from chainviz.core.databases.snapshot import is_database
from chainviz.core.databases.text import database_at, session_at
from chainviz.core.databases.writing import backups_of
from chainviz.core.errors import DocumentError, Refused
from chainviz.fixes.backups import refuse_reading_only


@dataclass(frozen=True, slots=True)
class DatabaseSessions:
    path: Path
    database: Database
    id: str = ""
    """The id of one session; "" for all sessions."""

    def documents(self, path: Path | None = None) -> dict[str, bytes]:
        """Return the documents of the sessions that have messages, from this database or the one at `path`."""

        def read(look: Look) -> dict[str, bytes]:
            rows = [row["id"] for row in self.database.rows(look) if row.get("messages", 1) and self.id in ("", row["id"])]
            return {id: document for id in rows if (document := self.database.document(look, id)) is not None}

        found = look_into(path or self.path, self.database, read)
        if self.id and not found:
            raise DocumentError(f"{path or self.path} holds no session “{self.id[:80]}”.")
        return found

    def write(self, changes: list[Change]) -> Path:
        """Write changed sessions and return the backup. Raises Refused if the agent is running, if a session has changed meanwhile, or
        if chainviz only reads databases of this agent."""
        if not self.database.writes:
            refuse_reading_only(self.database.label)
        return write_sessions(self.path, self.database, changes)

    def restore(self) -> tuple[Path, Path | None]:
        """Restore the sessions from the newest backup. Return it and a backup of the replaced content, or None if nothing differs.

        Sessions that began after the backup stay.
        """
        backups = backups_of(self.path)
        if not backups:
            raise Refused(f"{self.path} has no backup.")
        now, before = self.documents(), self.documents(backups[-1])
        changed = {id: now[id] for id in now.keys() & before.keys() if now[id] != before[id]}
        return backups[-1], restore_sessions(self.path, self.database, backups[-1], changed) if changed else None


def database_sessions(name: str) -> DatabaseSessions | None:
    """Return the sessions at a path or an address such as `opencode.db#ses_1`; None if the path is not a database.

    Raises DocumentError for a database of no known agent.
    """
    path, id = session_at(Path(name)) or (Path(name), "")
    return DatabaseSessions(path, database_at(path), id) if is_database(path) else None
