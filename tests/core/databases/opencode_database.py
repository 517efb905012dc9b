"""A database as opencode 1.18 makes it, with the tables that hold sessions and no others."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
    title text NOT NULL, version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    CONSTRAINT fk_project FOREIGN KEY (project_id) REFERENCES project(id) ON DELETE CASCADE);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL, CONSTRAINT fk_session FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL,
    CONSTRAINT fk_message FOREIGN KEY (message_id) REFERENCES message(id) ON DELETE CASCADE);
"""
TIME = 1_795_768_489_000
TOOL = {
    "status": "completed",
    "input": {"command": "ls"},
    "output": "depot.txt",
    "title": "ls",
    "metadata": {},
    "time": {"start": 1, "end": 2},
}


def create(path: Path, sessions: int = 1, *, log: bool = True) -> None:
    """Write a database with sessions of a question, a call with its result, and an answer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {'WAL' if log else 'DELETE'}")
        connection.executescript(SCHEMA)
        connection.execute("INSERT INTO project VALUES ('global', '/')")
        for number in range(sessions):
            add_session(connection, number)
        connection.commit()


def add_session(connection: sqlite3.Connection, number: int) -> None:
    id = f"ses_{number:04d}"
    connection.execute(
        "INSERT INTO session VALUES (?, 'global', NULL, 'eager-star', ?, ?, '1.18.33', ?, ?)",
        (id, f"/yard/depot{number}", f"Crates of depot {number}", TIME + number, TIME + number + 5_000),
    )
    asked = add_message(connection, id, 1, {"role": "user", "model": {"providerID": "local", "modelID": "m"}})
    add_part(connection, id, asked, 1, {"type": "text", "text": f"How many crates are in depot {number}?"})
    answered = add_message(connection, id, 2, {"role": "assistant", "parentID": asked, "modelID": "m", "providerID": "local"})
    add_part(connection, id, answered, 2, {"type": "step-start"})
    add_part(connection, id, answered, 3, {"type": "text", "text": "I look at the folder."})
    add_part(connection, id, answered, 4, {"type": "tool", "tool": "bash", "callID": f"call_{number}", "state": TOOL})
    closed = add_message(connection, id, 3, {"role": "assistant", "parentID": asked, "modelID": "m", "providerID": "local"})
    add_part(connection, id, closed, 5, {"type": "text", "text": "There are 4 crates."})


def add_message(connection: sqlite3.Connection, session: str, number: int, data: dict[str, Any]) -> str:
    id, time = f"msg_{session[4:]}_{number:03d}", TIME + number
    data = {**data, "time": {"created": time}}
    connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (id, session, time, time, json.dumps(data)))
    return id


def add_part(connection: sqlite3.Connection, session: str, message: str, number: int, data: dict[str, Any]) -> str:
    id, time = f"prt_{session[4:]}_{number:03d}", TIME + number
    connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (id, message, session, time, time, json.dumps(data)))
    return id
