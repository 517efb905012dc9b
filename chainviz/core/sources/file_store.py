"""Stores that keep a file, or a folder, for each session."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chainviz.core.backup_names import is_backup
from chainviz.core.documents import event_logs
from chainviz.core.documents.packed_files import beginning, plain_name
from chainviz.core.errors import DocumentError
from chainviz.core.sources.contract import Session, SessionState, Store
from chainviz.core.sources.head import HEAD, read_head
from chainviz.core.sources.machine import Machine
from chainviz.core.sources.places import Place, matching, paths_of


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
        if not files:
            return None
        size, modified = sum(file.st_size for file in files), max(file.st_mtime_ns for file in files)
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
            project=head.project,
            model=head.model,
            created=head.created,
            updated=state.modified / 1e9,
            size=state.size,
            parent=self.started_by(path),
        )
