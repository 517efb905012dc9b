"""Changed sessions in databases with a row for each message: only what changed is written, and the backup puts it back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.databases import DATABASES, Change, write_sessions
from chainviz.core.databases.writing import backups_of
from chainviz.core.errors import Refused
from chainviz.fixes.database_sessions import database_sessions
from tests.core.databases.test_agents import BUILDS, built

AGENTS = ("crush", "goose", "hermes")
KEY = {"crush": "messages", "goose": "conversation", "hermes": "messages"}


def rows(path: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM messages ORDER BY rowid").fetchall()


def texts(value: Any) -> list[str]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for each in inner for text in texts(each)] + ([value] if isinstance(value, str) else [])


TIMES = {"id", "created", "created_at", "timestamp"}
Edit = Callable[[list[Any]], object]
EDITS: dict[str, Edit] = {
    "deletes": lambda messages: messages.pop(1),
    "adds": lambda messages: messages.insert(2, {key: messages[1][key] for key in messages[1].keys() - TIMES}),
    "adds first": lambda messages: messages.insert(0, {k: v for k, v in messages[0].items() if k != "id"}),
    "changes": lambda messages: messages[3].update(role="user"),
    "turns": lambda messages: messages.reverse(),
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("edit", EDITS)
def test_messages_are_written_and_put_back(tmp_path: Path, agent: str, edit: str) -> None:
    path = built(tmp_path / "agent.db", BUILDS[agent])
    other = "INSERT INTO messages (session_id, role) VALUES ('other', 'user')"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(other)
        connection.commit()
    before = rows(path)
    database = next(each for each in DATABASES if each.agent == agent)
    found = database_sessions(f"{path}#s")
    assert found is not None
    (old,) = found.documents().values()
    document = json.loads(old)
    EDITS[edit](document[KEY[agent]])
    if edit == "turns" and agent != "crush":  # times would run backwards
        with pytest.raises(Refused, match="would not read back"):
            write_sessions(path, database, [Change("s", old, json.dumps(document).encode())])
        assert rows(path) == before
        return
    write_sessions(path, database, [Change("s", old, json.dumps(document).encode())])
    (new,) = found.documents().values()
    assert texts(document) <= texts(json.loads(new)) or set(texts(document)) <= set(texts(json.loads(new)))
    roles = [message["role"] for message in json.loads(new)[KEY[agent]]]
    assert roles == [message["role"] for message in document[KEY[agent]]]
    assert [row for row in rows(path) if "other" in row] == [row for row in before if "other" in row]
    with pytest.raises(Refused, match="changed after it was read"):
        write_sessions(path, database, [Change("s", old, new)])
    assert main(["fix", "--restore", f"{path}#s"]) == 0
    assert sorted(rows(path), key=repr) == sorted(before, key=repr)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_call_without_a_result_gets_one(tmp_path: Path, agent: str) -> None:
    path = built(tmp_path / "agent.db", BUILDS[agent])
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM messages WHERE rowid = (SELECT rowid FROM messages ORDER BY rowid LIMIT 1 OFFSET 2)")
        connection.commit()
    before = rows(path)
    assert main(["fix", "--check", str(path)]) == 1
    assert main(["fix", str(path)]) == 0
    assert len(rows(path)) == 4 and len(backups_of(path)) == 1
    assert main(["fix", "--check", str(path)]) == 0
    assert main(["fix", "--restore", str(path)]) == 0
    assert sorted(rows(path), key=repr) == sorted(before, key=repr)
