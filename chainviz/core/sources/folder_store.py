"""A folder that somebody named, or a database in it, as a store of sessions of whichever agents wrote them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from chainviz.core.backup_names import is_backup
from chainviz.core.databases.snapshot import is_database
from chainviz.core.databases.text import database_at
from chainviz.core.errors import DocumentError
from chainviz.core.sources.contract import Session, SessionState, Store
from chainviz.core.sources.database_store import DatabaseStore
from chainviz.core.sources.file_store import FileStore
from chainviz.core.sources.folder_files import SessionFolder, files_of
from chainviz.core.sources.machine import Machine

MOST_FILES = 20_000
DATABASE_NAMES = ("*.db", "*.sqlite", "*.sqlite3", "*.vscdb")


@dataclass(frozen=True)
class FolderStore(Store):
    folder: SessionFolder
    agent: str = ""
    label: str = "Folder"

    def places(self, machine: Machine) -> list[Path]:
        return [self.folder.path]

    def count(self, place: Path) -> int | None:
        return sum(1 for each in files_of(self.folder) if not each.sentence) if place.is_dir() else None

    def states(self, place: Path) -> list[SessionState]:
        """Return at most MOST_FILES files, and the sessions of the databases beside them."""
        if place.is_file():
            return _in_database(place)
        try:
            os.scandir(place).close()
        except OSError as error:
            raise DocumentError(f"{place} cannot be read: {error.strerror or error}.") from None
        return [*islice(self._files(), MOST_FILES), *(state for path in _databases_in(place) for state in _in_database(path))]

    def _files(self) -> Iterator[SessionState]:
        for each in files_of(self.folder):
            if not each.sentence and not is_backup(each.name):
                yield SessionState(self.folder.path / each.name, each.display_name, each.size, each.modified)

    def session(self, state: SessionState) -> Session | None:
        return state.row or _FILES.session(state)

    def sessions(self, place: Path) -> list[Session]:
        return [session for state in self.states(place) if (session := self.session(state))]

    def read(self, path: Path, id: str) -> bytes:
        return _database_store(path).read(path, id) if is_database(path) else _FILES.read(path, id)



_FILES = FileStore("", "Folder", (), ())
"""Reads a file of a folder as the stores of agents do."""


def _databases_in(folder: Path) -> list[Path]:
    return sorted({path for name in DATABASE_NAMES for path in folder.glob(name) if path.is_file()})


def _in_database(path: Path) -> list[SessionState]:
    """Return the sessions of a database; none if it belongs to another program."""
    try:
        store = _database_store(path)
    except DocumentError:
        return []
    return store.states(path)


def _database_store(path: Path) -> DatabaseStore:
    """Raise DocumentError if the database is of no agent that chainviz knows."""
    return DatabaseStore(database_at(path))
