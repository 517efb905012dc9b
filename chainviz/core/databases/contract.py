"""The contract of an agent's database: how it is recognised, which sessions it lists, and a session as the agent exports it.

A reader gives one look into a database: its tables, rows as dictionaries, and the values that agents keep in them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from chainviz.core.databases.snapshot import tables_of
from chainviz.core.errors import Refused

Row = dict[str, Any]
Tables = Mapping[str, frozenset[str]]


class Look:
    """One look into a database: its tables, and rows as dictionaries."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.tables = tables_of(connection)

    def select(self, query: str, *values: object) -> Iterator[Row]:
        cursor = self._connection.execute(query, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def rows_of(self, table: str, columns: str, end: str = "", *values: object) -> Iterator[Row]:
        """Yield rows with these columns (words); one that the table does not have is None. `end` is the rest of the query."""
        there = self.tables.get(table, frozenset())
        asked = ", ".join(f'"{name}"' if name in there else f'NULL AS "{name}"' for name in columns.split())
        return self.select(f'SELECT {asked} FROM "{table}" {end}', *values)

    def sizes(self, table: str, group: str, column: str) -> dict[str, int]:
        """Return the bytes of a column for each value of another one."""
        measure = "octet_length" if sqlite3.sqlite_version_info >= (3, 43) else "length"
        rows = self.select(f'SELECT "{group}" id, sum({measure}("{column}")) n FROM "{table}" GROUP BY 1')
        return {row["id"]: row["n"] or 0 for row in rows}

    def counts(self, table: str, group: str) -> dict[str, int]:
        return {row["id"]: row["n"] for row in self.select(f'SELECT "{group}" id, count(*) n FROM "{table}" GROUP BY 1')}


def decoded(value: object) -> Any:
    """Return what a column with JSON holds; the value itself where it holds none."""
    if not isinstance(value, str | bytes):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def encoded(document: object, indent: int | None = 2) -> bytes:
    """Return JSON as the JavaScript of most agents writes it."""
    separators = None if indent else (",", ":")
    text = json.dumps(document, ensure_ascii=False, indent=indent, separators=separators)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:  # half an emoji, or text that is not UTF-8
        return json.dumps(document, indent=indent, separators=separators).encode() + b"\n"


def without_none(row: Mapping[str, Any]) -> Row:
    return {key: value for key, value in row.items() if value is not None}


def whole(value: object) -> object:
    """Return a number as JavaScript writes it, which has no 0.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def seconds(value: object) -> float | None:
    """Return a time in seconds since 1970, from seconds, milli-, micro- or nanoseconds."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return None
    number = float(value)
    while number > 1e11:
        number /= 1000
    return number


def title_in(text: str, most: int = 120) -> str:
    """Return the first words of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


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
