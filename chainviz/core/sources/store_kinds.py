"""The kinds of stores: a file or folder for each session, a database, and a folder that somebody named, with sessions of any agent.

A database is found at its usual places, and is listed and read through one consistent look.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from chainviz.core.backup_names import is_backup
from chainviz.core.databases import look_into
from chainviz.core.databases.contract import Database
from chainviz.core.databases.snapshot import is_database
from chainviz.core.databases.text import database_at
from chainviz.core.documents import event_logs, opencode_storage
from chainviz.core.documents.packed_files import beginning, plain_name
from chainviz.core.errors import DocumentError
from chainviz.core.sources.contract import Session, SessionState, Store
from chainviz.core.sources.folder_files import SessionFolder, files_of
from chainviz.core.sources.head import HEAD, read_head
from chainviz.core.sources.machine import Machine, Place, matching, paths_of


@lru_cache(maxsize=10_000)
def _is_empty(is_empty: Callable[[bytes], bool], path: Path, state: tuple[int, int]) -> bool:
    """Look into a file once for each of its states."""
    try:
        return is_empty(beginning(path, HEAD))
    except OSError:
        return False


def stem(path: Path) -> str:
    return plain_name(path.name).rpartition(".")[0]


def folder_name(path: Path) -> str:
    return path.parent.name


@dataclass(frozen=True)
class FileStore(Store):
    agent: str
    label: str
    kept_at: tuple[Place, ...]
    patterns: tuple[str, ...]
    """The patterns of the sessions of a place, below its folder."""
    name: Callable[[Path], str] = stem
    """Returns the id of a session from the path of its file."""
    is_left_out: Callable[[Path], bool] = lambda path: False
    """Returns True for a matching file that is not a session."""
    started_by: Callable[[Path], str] = lambda path: ""
    """Returns the id of the session whose agent started the session in this file."""
    project: Callable[[Path], str] = lambda path: ""
    """Returns the working folder of a session that records none in its own file."""
    is_empty: Callable[[bytes], bool] | None = None
    """Returns True for the content of a file that an agent begins before anybody has asked anything, and does not list. Only
    short files are opened for it."""
    letters: str = ""
    formats: tuple[str, ...] = ()
    in_projects: bool = False

    def places(self, machine: Machine) -> list[Path]:
        return [path for path in paths_of(self.kept_at, machine) if path.is_dir()]

    def count(self, place: Path) -> int:
        return sum(1 for _ in self._paths(place))

    def states(self, place: Path) -> list[SessionState]:
        return [state for path in self._paths(place) if (state := self._state(path))]

    def sessions(self, place: Path) -> list[Session]:
        return [session for state in self.states(place) if (session := self.session(state))]

    def group_folder(self, place: Path, path: Path) -> Path:
        """Return the folder of the project, or the place: agents that keep no folder a project often keep one a session."""
        below = path.relative_to(place).parts
        return place / below[0] if self.in_projects and len(below) > 1 else place

    def read(self, path: Path, id: str) -> bytes:
        try:
            if path.is_dir():
                return b"".join(line + b"\n" for line in event_logs.lines(path))
            return path.read_bytes()
        except OSError as error:
            raise DocumentError(f"{path} cannot be opened: {error.strerror or error}.") from None

    def _paths(self, place: Path) -> Iterator[Path]:
        found = dict.fromkeys(path for pattern in self.patterns for path in matching(place, pattern))
        return (path for path in found if not (is_backup(path.name) or self.is_left_out(path)))

    def _state(self, path: Path) -> SessionState | None:
        """Return the state of a file; None if it is gone or cannot be read, and for a folder without events."""
        try:
            own = path.stat()
            files = [own] if not stat.S_ISDIR(own.st_mode) else [file.stat() for file in event_logs.events_of(path)]
        except OSError:
            return None
        size, modified = sum(file.st_size for file in files), max((file.st_mtime_ns for file in files), default=0)
        if not files or (self.is_empty is not None and size < HEAD and _is_empty(self.is_empty, path, (size, modified))):
            return None
        return SessionState(path, self.name(path), size, modified)

    def session(self, state: SessionState) -> Session | None:
        path = state.path
        try:
            head = read_head(
                b"\n".join(map(event_logs.line_of, event_logs.events_of(path)[:20])) if path.is_dir() else beginning(path, HEAD)
            )
        except OSError:
            return None
        return Session(
            agent=self.agent,
            id=state.id,
            path=path,
            title=head.title,
            project=head.project or self.project(path),
            model=head.model,
            created=head.created,
            updated=state.modified / 1e9,
            size=state.size,
            parent=self.started_by(path),
        )


class OpencodeFiles(FileStore):
    """The sessions of opencode before 1.2, which have a file for each part. A later opencode copies them into its database when it
    first starts, and they are listed there."""

    def places(self, machine: Machine) -> list[Path]:
        return [place for place in super().places(machine) if not any(place.parents[1].glob("opencode*.db"))]

    def read(self, path: Path, id: str) -> bytes:
        return opencode_storage.document_of(path)

    def _state(self, path: Path) -> SessionState | None:
        """Return the state of a session; None if it has no messages. Their folder changes with each new message."""
        try:
            modified = max(path.stat().st_mtime_ns, opencode_storage.messages_of(path).stat().st_mtime_ns)
        except OSError:
            return None
        return SessionState(path, self.name(path), _size_of_storage(path, modified), modified)


@lru_cache(maxsize=10_000)
def _size_of_storage(path: Path, modified: int) -> int:
    """Return the size of all files of a session. They are many, so they are looked at once for each change."""
    return sum(file.stat().st_size for file in opencode_storage.files_of(path))


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
        return list(dict.fromkeys(path for each in lists for path in _databases_of_projects(each)))

    def group_folder(self, place: Path, path: Path) -> Path:
        """Return the project, in which the usual folder of the database is hidden."""
        return path.parents[1] if path.parent.name == ".crush" else path.parent


def _databases_of_projects(projects: Path) -> Iterator[Path]:
    try:
        value = json.loads(projects.read_bytes())
    except (OSError, ValueError, RecursionError):
        return
    found = value.get("projects") if isinstance(value, dict) else None
    for project in found if isinstance(found, list) else ():
        folder = project.get("data_dir") if isinstance(project, dict) else None
        if isinstance(folder, str) and "\0" not in folder and (path := Path(project.get("path") or "", folder, "crush.db")).is_file():
            yield path


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
