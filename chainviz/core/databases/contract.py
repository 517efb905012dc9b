"""The contract of an agent's database: how it is recognised, which sessions it lists, and a session as the agent exports it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from chainviz.core.databases.sqlite_reader import Look, Row, Tables
from chainviz.core.errors import Refused


class Database(Protocol):
    agent: str
    """The agent's name, such as `opencode`."""
    label: str
    writes: bool = False
    letters: str = ""
    """See `Store` (sources/contract.py), as `formats`."""
    formats: Sequence[str] = ()
    own_tables: Sequence[tuple[str, str]] = ()
    """The tables with the rows of a session, each after the tables that its rows belong to, with the column of the
    session's id."""
    needs: Mapping[str, Sequence[str]]
    """The tables and columns that every database of this agent has."""

    def rows(self, look: Look) -> Iterator[Row]:
        """Yield a row for each session, with what is known of: id, title, project, model, created and updated (seconds since 1970),
        messages (their number), size (bytes) and parent (the id of the session that started it)."""

    def document(self, look: Look, id: str) -> bytes | None:
        """Return a session as JSON as the agent's own export writes it, or None if there is none of this id."""

    def without_damage(self, document: bytes) -> tuple[bytes, tuple[str, ...]]:
        """Return a document without rows that its agent cannot read, and a sentence for each."""
        return document, ()

    def write(self, connection: sqlite3.Connection, id: str, old: bytes, new: bytes) -> None:
        """Turn the rows of a session from `old`, its document as it is, into `new`. Raises Refused if that cannot be done."""
        raise Refused(f"chainviz does not write into the database of {self.label}.")

    def is_mine(self, tables: Tables) -> bool:
        return all(tables.get(name, frozenset()).issuperset(columns) for name, columns in self.needs.items())
