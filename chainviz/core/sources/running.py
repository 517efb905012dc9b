"""Whether the agent of a session runs: what it writes must not be changed under it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from chainviz.core.databases.writing import openers_of
from chainviz.core.sources.contract import Session

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
