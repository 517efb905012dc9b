"""Databases that keep a session as one document in a row: a fixed one is written into its row, and the backup puts the old one back."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.databases import FORGE, Change, write_sessions
from chainviz.core.errors import Refused
from tests.core.databases.test_agents import build_forge, build_kiro, built


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with a conversation whose call has no result, and with another one."""
    path = built(tmp_path / ".forge.db", build_forge)
    with closing(sqlite3.connect(path)) as connection:
        context = json.loads(stored(path)["s"])
        del context["messages"][2]
        connection.execute("UPDATE conversations SET context = ?", (json.dumps(context),))
        connection.execute("INSERT INTO conversations (conversation_id, title, context) VALUES ('other', '', NULL)")
        connection.commit()
    return path


def stored(path: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        return dict(connection.execute("SELECT conversation_id, context FROM conversations"))


def test_a_call_without_a_result_gets_one(path: Path) -> None:
    before = stored(path)
    assert main(["fix", "--check", f"{path}#s"]) == 1
    assert main(["fix", f"{path}#s"]) == 0
    assert main(["fix", "--check", f"{path}#s"]) == 0
    after = stored(path)
    messages = json.loads(after["s"])["messages"]
    old = json.loads(before["s"])["messages"]
    assert messages[:2] + messages[3:] == old and after["other"] is None
    result = messages[2]["message"]["tool"]
    assert (result["name"], result["call_id"]) == ("view", "c") and result["output"]["values"][0]["text"]
    assert main(["fix", "--restore", f"{path}#s"]) == 0
    assert stored(path) == before


def test_a_session_that_changed_is_left_alone(path: Path) -> None:
    before = stored(path)
    with pytest.raises(Refused, match="changed after it was read"):
        write_sessions(path, FORGE, [Change("s", b"{}", b"{}")])
    assert stored(path) == before


def test_a_session_that_cannot_be_written_can_be_handed_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = built(tmp_path / "data.sqlite3", build_kiro)
    with closing(sqlite3.connect(path)) as connection:
        value = json.loads(connection.execute("SELECT value FROM conversations_v2").fetchone()[0])
        value["history"][1]["user"]["content"] = {"Prompt": {"prompt": "Go on."}}
        connection.execute("UPDATE conversations_v2 SET value = ?", (json.dumps(value),))
        connection.commit()
    assert main(["fix", f"{path}#s"]) == 2
    assert "chainviz convert SESSION --to codex --install" in capsys.readouterr().err
    session = tmp_path / "rollout.jsonl"
    assert main(["convert", f"{path}#s", "--to", "codex", "--project", str(tmp_path), "--out", str(session)]) == 0
    assert main(["check", str(session)]) == 0
