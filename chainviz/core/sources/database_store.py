"""Stores that are databases: found at their usual places, listed and read through one consistent look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from chainviz.core.databases import look_into
from chainviz.core.databases.contract import Database
from chainviz.core.errors import DocumentError
from chainviz.core.sources.contract import Session, SessionState, Store
from chainviz.core.sources.machine import Machine
from chainviz.core.sources.places import Place, paths_of


class DatabaseStore(Store):
    def __init__(self, database: Database, *kept_at: Place) -> None:
        self.database = self.kind = database
        self.agent, self.label = database.agent, database.label
        self.letters, self.formats = database.letters, database.formats
        self._kept_at = kept_at

    def places(self, machine: Machine) -> list[Path]:
        return [path for path in paths_of(self._kept_at, machine) if path.is_file()]

    def count(self, place: Path) -> int | None:
        return None

    def sessions(self, place: Path) -> list[Session]:
        rows = look_into(place, self.database, lambda look: list(self.database.rows(look)))
        return [Session(agent=self.agent, path=place, in_database=True, **row) for row in rows]

    def states(self, place: Path) -> list[SessionState]:
        return [SessionState(place, row.id, row.size, int((row.updated or 0) * 1e9), row) for row in self.sessions(place)]

    def session(self, state: SessionState) -> Session | None:
        return state.row

    def read(self, path: Path, id: str) -> bytes:
        found = look_into(path, self.database, lambda look: self.database.document(look, id))
        if found is None:
            raise DocumentError(f"{path} holds no session “{id[:80]}”.")
        return found



class CrushStore(DatabaseStore):
    """Crush keeps a database in each project, and a list of the projects in the home folder."""

    def places(self, machine: Machine) -> list[Path]:
        lists = super().places(machine)
        return list(dict.fromkeys(path for each in lists for path in _databases_in(each)))


def _databases_in(projects: Path) -> Iterator[Path]:
    try:
        value = json.loads(projects.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    found = value.get("projects") if isinstance(value, dict) else None
    for project in found if isinstance(found, list) else ():
        folder = project.get("data_dir") if isinstance(project, dict) else None
        if (
            isinstance(folder, str)
            and "\0" not in folder
            and (path := Path(project.get("path") or "", folder, "crush.db")).is_file()
        ):
            yield path
