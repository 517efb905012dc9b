"""Find the sessions of this machine's agents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from chainviz.core.errors import DocumentError

if TYPE_CHECKING:
    from chainviz.core.sources import Session, SessionState, Store


def sessions(agent: str = "", project: str = "") -> list[Session]:
    """Return the sessions of this machine, the one changed last first. `agent` names an agent, such as `opencode`; `project` is a
    text that the working folder contains. `load(session.address)` opens one.

    Stores that cannot be read are left out. Raises DocumentError for an unknown agent.
    """
    return newest_first(each for each in find_sessions(agent, project) if not isinstance(each, DocumentError))


def newest_first(sessions: Iterable[Session]) -> list[Session]:
    """Return sessions with the one changed last first, and those without a time last."""
    return sorted(sessions, key=lambda session: session.updated or 0.0, reverse=True)


def find_sessions(agent: str = "", project: str = "") -> Iterator[Session | DocumentError]:
    """Yield sessions in no order, and for each store that cannot be read, why."""
    from chainviz.core.sources import find_stores, get_store, sessions_in  # loads sqlite3, which most commands do without

    if agent:
        get_store(agent)
    for each in sessions_in(find_stores(agent=agent)):
        if isinstance(each, DocumentError) or project in each.project:
            yield each


def sessions_named(name: str, agent: str = "") -> list[Session]:
    """Return the sessions with this id; if there are none, those whose id begins with it, else those whose id contains it."""
    from chainviz.core.sources import find_stores, get_store

    if agent:
        get_store(agent)
    near: dict[int, list[tuple[Store, SessionState]]] = {}
    for found in find_stores(agent=agent):
        with suppress(DocumentError):
            for state in found.store.states(found.place):
                if name in state.id:
                    rank = 0 if state.id == name else 1 if state.id.startswith(name) else 2
                    near.setdefault(rank, []).append((found.store, state))
    nearest = near[min(near)] if near else []
    return newest_first(session for store, state in nearest if (session := store.session(state)))
