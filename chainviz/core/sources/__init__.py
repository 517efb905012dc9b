"""Find where agents keep their sessions on this machine, and list and read the sessions.

In reading order: `contract` (a session, a store), `machine` (folders of a home), `head` (the facts at the beginning of a file),
`store_kinds` (files, databases, a named folder), `stores` (one entry an agent), and here the entry points.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from chainviz.core.databases.snapshot import database_copy
from chainviz.core.errors import DocumentError
from chainviz.core.sources.contract import Session, SessionState, Store
from chainviz.core.sources.machine import Machine
from chainviz.core.sources.stores import STORES

__all__ = [
    "STORES",
    "FoundStore",
    "Machine",
    "Session",
    "SessionState",
    "Store",
    "find_stores",
    "get_store",
    "read_session",
    "read_sessions",
    "sessions_in",
]


@dataclass(frozen=True, slots=True)
class FoundStore:
    """A place of an agent's sessions that is on the machine."""

    store: Store
    place: Path

    @property
    def count(self) -> int | None:
        """Return the number of sessions, from names alone; None for a database."""
        return self.store.count(self.place)

    def sessions(self) -> list[Session]:
        """Raise DocumentError, in a sentence, where the place cannot be read."""
        return list(self.store.sessions(self.place))


def find_stores(machine: Machine | None = None, agent: str = "") -> list[FoundStore]:
    """Return the stores that are on the machine, by the names of their files alone."""
    here = machine or Machine.current()
    stores = [store for store in STORES if agent in ("", store.agent)]
    return [FoundStore(store, place) for store in stores for place in store.places(here)]


def get_store(agent: str) -> Store:
    """Raise DocumentError for a name that no store has."""
    store = next((store for store in STORES if store.agent == agent), None)
    if store is None:
        raise DocumentError(f"There is no agent “{agent[:40]}”; choose one of {', '.join(dict.fromkeys(each.agent for each in STORES))}.")
    return store


def sessions_in(stores: list[FoundStore]) -> Iterator[Session | DocumentError]:
    """Yield the sessions of the stores, and for one that cannot be read, why."""
    for found in stores:
        try:
            yield from found.sessions()
        except DocumentError as error:
            yield error


def read_session(session: Session) -> bytes:
    """Return the session as its file, or as its agent exports it. Raises DocumentError."""
    return get_store(session.agent).read(session.path, session.id)


def read_sessions(sessions: Iterable[Session]) -> Iterator[tuple[Session, bytes | DocumentError]]:
    """Yield each session with its content, or why it cannot be read. Those of one database, whose log has to be read with it, must
    follow one another: they are read from one copy."""
    for path, group in groupby(sessions, key=lambda session: session.path if session.in_database else None):
        if path is None:
            yield from ((session, _content(session, session.path)) for session in group)
            continue
        waiting = list(group)
        try:
            with database_copy(path) as copy:
                yield from ((session, _content(session, copy)) for session in waiting)
        except DocumentError as error:
            yield from ((session, error) for session in waiting)


def _content(session: Session, path: Path) -> bytes | DocumentError:
    try:
        return get_store(session.agent).read(path, session.id)
    except DocumentError as error:
        return error
