"""Databases with a row for each message: how a changed session is written into them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple
from uuid import NAMESPACE_OID, uuid5

from chainviz.core.databases.contract import Database, Look, Row, encoded
from chainviz.core.errors import Refused


class MessageRows(Database):
    """Unchanged rows are not written. Rows after a new one are written again, since their number gives their place."""

    writes = True
    own_tables = (("messages", "session_id"),)
    list_key = "messages"
    """The member of a document with the messages."""
    order: str
    """The columns by which messages are sorted; the first one is a time."""
    id_column = "id"
    """The column with the name of a message; "" if there is none."""

    members: frozenset[str]
    """The members of a message that are stored in columns."""

    def columns(self, message: Row) -> Row:
        """Return the values of the columns that a message of a document tells."""
        raise NotImplementedError

    def rows_of_messages(self, look: Look, id: str) -> list[Row]:
        """Return all columns of the rows that the messages of a document come from, and the number of each as `row number`."""
        active = "AND active = 1 " if "active" in look.tables["messages"] else ""
        return list(look.select(f'SELECT rowid "row number", * FROM messages WHERE session_id = ? {active}ORDER BY {self.order}', id))

    def write(self, connection: sqlite3.Connection, id: str, old: bytes, new: bytes) -> None:
        before, after = json.loads(old), json.loads(new)
        was, wanted = before.pop(self.list_key), after.pop(self.list_key)
        if before != after:
            raise Refused("Only messages are written into the database of an agent, and what is beside them changed.")
        look = Look(connection)
        rows = self.rows_of_messages(look, id)
        _Writer(self, connection, id).write(list(_pairs(was, rows, wanted)), rows)
        written = json.loads(self.document(look, id) or b"{}").get(self.list_key, [])
        if len(written) != len(wanted) or not all(map(self._holds, written, wanted)):
            raise Refused(f"The session {id} would not read back as it was fixed; nothing is changed.")

    def _holds(self, written: Row, message: Row) -> bool:
        told = {name: value for name, value in self.columns(message).items() if value is not None}
        return message.keys() <= self.members and {**self.columns(written), **told} == self.columns(written)


class Place(NamedTuple):
    row: Row | None
    """The row of a message, or None for a new one."""
    old: Row | None
    message: Row


def _pairs(was: Sequence[Row], rows: Sequence[Row], wanted: Sequence[Row]) -> Iterator[Place]:
    keys, new_keys = ([json.dumps(message, sort_keys=True) for message in each] for each in (was, wanted))
    for _, start, end, first, last in SequenceMatcher(None, keys, new_keys, autojunk=False).get_opcodes():
        for place in range(first, last):
            at = start + place - first
            yield Place(rows[at], was[at], wanted[place]) if at < end else Place(None, None, wanted[place])


class _Writer:
    def __init__(self, database: MessageRows, connection: sqlite3.Connection, id: str) -> None:
        self._database, self._connection, self._id = database, connection, id
        self._columns = {row[1]: row for row in connection.execute("SELECT * FROM pragma_table_info('messages')")}
        """By column name: its type, whether it must have a value, its default, and whether it is the key."""

    def write(self, places: Sequence[Place], rows: Sequence[Row]) -> None:
        kept = {place.row["row number"] for place in places if place.row is not None}
        for row in rows:
            if row["row number"] not in kept:
                self._delete(row)
        first = next((number for number, place in enumerate(places) if place.row is None), len(places))
        for place in places[:first]:
            self._change(place)
        last: Row = rows[0] if rows else {}
        for number, place in enumerate(places):
            if number < first and place.row is not None:
                last = place.row
                continue
            if place.row is not None:
                self._delete(place.row)
                values = {**place.row, **self._changes(place)}
            else:
                values = self._new(place.message, last, number)
            self._insert(values)
            last = values
        self._count(len(rows))

    def _changes(self, place: Place) -> Row:
        """Return the columns of a message that have another value than before."""
        before = self._database.columns(place.old or {})
        now = self._database.columns(place.message)
        return {name: value for name, value in now.items() if name in self._columns and before.get(name) != value}

    def _change(self, place: Place) -> None:
        changes = self._changes(place)
        if changes and place.row is not None:
            named = ", ".join(f'"{name}" = ?' for name in changes)
            self._connection.execute(f"UPDATE messages SET {named} WHERE rowid = ?", (*changes.values(), place.row["row number"]))

    def _new(self, message: Row, last: Row, number: int) -> Row:
        """Return a row for a message; what the table requires and the message does not tell is as in the row before."""
        required = [name for name, (_, _, _, needed, default, _) in self._columns.items() if needed and default is None]
        time, id = self._database.order.partition(",")[0], self._database.id_column
        told = {name: value for name, value in self._database.columns(message).items() if value is not None}
        named = {id: str(uuid5(NAMESPACE_OID, f"{self._id} {number} {message!r}"))} if id else {}
        return {**{name: last.get(name) for name in (*required, time)}, **named, **told, "session_id": self._id}

    def _insert(self, values: Row) -> None:
        numbered = [name for name, (*_, kind, _, _, key) in self._columns.items() if key and kind.upper() == "INTEGER"]
        names = [name for name in values if name in self._columns and name not in numbered]
        marks = ", ".join("?" * len(names))
        quoted = ", ".join(f'"{name}"' for name in names)
        self._connection.execute(f"INSERT INTO messages ({quoted}) VALUES ({marks})", [values[name] for name in names])

    def _delete(self, row: Row) -> None:
        self._connection.execute("DELETE FROM messages WHERE rowid = ?", (row["row number"],))

    def _count(self, before: int) -> None:
        """Update the message count of a session, unless a trigger of Crush already did."""
        if "message_count" in Look(self._connection).tables["sessions"]:
            count = "(SELECT count(*) FROM messages WHERE session_id = sessions.id)"
            query = f"UPDATE sessions SET message_count = {count} WHERE id = ? AND message_count = ?"
            self._connection.execute(query, (self._id, before))


def as_json(value: object) -> str | None:
    """Return a value as the JSON of a column; None for none."""
    return None if value is None else encoded(value, None).decode().rstrip("\n")
