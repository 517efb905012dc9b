"""The contract of a store: where an agent keeps its sessions, how they are listed, and whether the agent of a session runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chainviz.core.databases.contract import Database
from chainviz.core.databases.writing import openers_of
from chainviz.core.sources.machine import Machine

PROCESSES = Path("/proc")
"""The folder in which Linux lists processes; other systems have no such folder."""
_WORDS = 3
"""The number of words of a command line in which the agent's program is searched, since an interpreter and its options
may precede it."""


@dataclass(frozen=True, slots=True)
class Process:
    number: int
    name: str


def agent_process(session: Session, processes: Path = PROCESSES) -> Process | None:
    """Return a process that has the session open, or the agent's program if it runs in the session's working folder."""
    opener = next(openers_of(session.path), 0)
    if opener:
        return Process(opener, " ".join(_programs(processes / str(opener))))
    wanted = session.agent.partition("-")[0]
    for process in processes.glob("[0-9]*") if session.project else ():
        names = _programs(process) if _folder(process) == session.project else []
        if any(name == wanted or name.startswith(f"{wanted}-") for name in names):
            return Process(int(process.name), " ".join(names))
    return None


def _folder(process: Path) -> str:
    with suppress(OSError):
        return str((process / "cwd").readlink())
    return ""


def _programs(process: Path) -> list[str]:
    """Return the names of the program and of what it runs, such as node and claude."""
    with suppress(OSError):
        words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:_WORDS]
        return [name for word in words if word and not word.startswith("-") and (name := Path(word).name)]
    return []


@dataclass(frozen=True, slots=True)
class Session:
    """A session as a list shows it. What the store does not record is "" or None."""

    agent: str
    id: str
    path: Path
    """The session's file, the folder of its events, or the database that holds it."""
    title: str = ""
    project: str = ""
    """The working folder that the session records."""
    model: str = ""
    created: float | None = None
    """In seconds since 1970, like `updated`."""
    updated: float | None = None
    messages: int | None = None
    size: int = 0
    """Bytes of the session's content in its store."""
    parent: str = ""
    """The id of the session whose agent started this one."""
    in_database: bool = False

    @property
    def address(self) -> str:
        """The name of the session on the command line: its path, in a database with its id behind `#`."""
        return f"{self.path}#{self.id}" if self.in_database else str(self.path)


@dataclass(frozen=True, slots=True)
class SessionState:
    """The facts of a session without reading it: enough to see whether it changed."""

    path: Path
    id: str
    size: int
    modified: int
    """In nanoseconds since 1970."""
    row: Session | None = None
    """The facts that a database lists without reading the session; None for a file."""

    @property
    def address(self) -> str:
        return str(self.path) if self.row is None else self.row.address


class Store(Protocol):
    agent: str
    """The agent's name in options and addresses, such as `claude-code`."""
    label: str
    """The agent's name on pages."""
    kind: Database | None = None
    """The kind of database, or None if sessions are files."""
    letters: str = ""
    """The mark of the agent on pages; "" for the first two letters of its label."""
    formats: Sequence[str] = ()
    """Formats that only this agent writes: a file in one of them is one of its sessions, wherever it is."""
    in_projects: bool = False
    """True if each project has its own folder of sessions."""

    def places(self, machine: Machine) -> Sequence[Path]:
        """Return the folders or databases of the agent that are there. Looks at names only."""

    def count(self, place: Path) -> int | None:
        """Return how many sessions a place has, from names alone, or None if that needs a look into a database."""

    def states(self, place: Path) -> Sequence[SessionState]:
        """Return the state of each session of a place, in no order. Opens no file, and a database only to list its rows.

        Raises DocumentError, in a sentence, where the place cannot be read."""

    def session(self, state: SessionState) -> Session | None:
        """Return the session as a list shows it, from the beginning of its file, or None if that cannot be read."""

    def sessions(self, place: Path) -> Sequence[Session]:
        """Return the sessions of a place, in no order. Raises DocumentError, in a sentence, if it cannot be read."""

    def group_folder(self, place: Path, path: Path) -> Path:
        """Return the folder that counts as the project of a session without a recorded working folder."""
        return path.parent

    def read(self, path: Path, id: str) -> bytes:
        """Return the session with this path and id as the agent's own export writes it, or its file.

        Raises DocumentError if it is not there or cannot be read.
        """
