"""`chainviz fix` in a database of opencode: one transaction behind a backup, never beside the running agent."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from chainviz.core.databases import OPENCODE, Change, write_sessions
from chainviz.core.databases.writing import backups_of
from chainviz.core.errors import Refused
from chainviz.fixes.database_sessions import database_sessions
from tests.core.databases.opencode_database import add_part, create

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("SELECT count(*) FROM session").fetchone()
print("ready", flush=True)
sys.stdin.read()
"""


def rows(path: Path, table: str = "part") -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        return {id: json.loads(data) for id, data in connection.execute(f"SELECT id, data FROM {table}")}


def edit(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        change(connection)
        connection.commit()


def interrupt(connection: sqlite3.Connection, part: str) -> None:
    """Leave a call as a process leaves it that dies while its tool runs."""
    data = json.loads(connection.execute("SELECT data FROM part WHERE id = ?", (part,)).fetchone()[0])
    data["state"] = {"status": "running", "input": data["state"]["input"], "time": {"start": 1}}
    connection.execute("UPDATE part SET data = ? WHERE id = ?", (json.dumps(data), part))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    create(path, 3)
    edit(path, lambda connection: interrupt(connection, "prt_0001_004"))
    return path


def test_only_the_broken_call_changes_and_restore_takes_it_back(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows(store)
    assert main(["fix", "--check", str(store)]) == 1
    assert rows(store) == before and not backups_of(store)
    assert main(["fix", str(store)]) == 0
    after = rows(store)
    assert {id for id in before if before[id] != after[id]} == {"prt_0001_004"} and before.keys() == after.keys()
    state = after["prt_0001_004"]["state"]
    assert state["status"] == "completed" and state["output"] and state["input"] == {"command": "ls"}
    assert "1 session fixed; the backup is " in capsys.readouterr().out
    (backup,) = backups_of(store)
    assert rows(backup) == before
    assert main(["fix", "--check", str(store)]) == 0
    assert main(["fix", "--restore", f"{store}#ses_0001"]) == 0
    assert rows(store) == before
    assert main(["fix", "--restore", str(store)]) == 0
    assert "already what the newest backup holds" in capsys.readouterr().out


def test_one_session_is_named_by_its_id(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(store, lambda connection: interrupt(connection, "prt_0002_004"))
    before = rows(store)
    assert main(["fix", f"{store}#ses_0002"]) == 0
    assert {id for id, data in rows(store).items() if before[id] != data} == {"prt_0002_004"}
    assert main(["fix", f"{store}#ses_9"]) == 2
    assert "holds no session “ses_9”" in capsys.readouterr().err


def test_nothing_is_written_while_the_agent_has_the_database_open(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = rows(store)
    command = [sys.executable, "-c", HOLDER, str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout and agent.stdout.readline() == "ready\n"
        assert main(["fix", str(store)]) == 2
        assert f"is in use by process {agent.pid}; quit the agent and try again." in capsys.readouterr().err
        assert rows(store) == before and not backups_of(store)
        agent.communicate("")
    assert main(["fix", str(store)]) == 0


@pytest.mark.parametrize("begins", ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"])
def test_a_transaction_that_no_list_of_processes_shows_refuses_the_fix(
    store: Path, begins: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("chainviz.core.databases.writing.user_of", lambda path: 0)
    with closing(sqlite3.connect(store, isolation_level=None)) as agent:
        agent.execute(begins)
        assert main(["fix", str(store)]) == 2
        agent.execute("ROLLBACK")
    assert "is in use by another program" in capsys.readouterr().err and not backups_of(store)


def test_a_session_that_changed_after_it_was_read_is_not_written(store: Path) -> None:
    sessions = database_sessions(str(store))
    assert sessions
    old = sessions.documents()
    edit(store, lambda connection: add_part(connection, "ses_0001", "msg_0001_003", 9, {"type": "text", "text": "And one more."}))
    before = rows(store)
    changes = [Change(id, old[id], old[id].replace(b"4 crates", b"5 crates")) for id in ("ses_0000", "ses_0001")]
    with pytest.raises(Refused, match="the session ses_0001 changed after it was read"):
        write_sessions(store, OPENCODE, changes)
    assert rows(store) == before and not backups_of(store), "the first session is not written either"


def test_new_messages_and_parts_stay_in_their_places(store: Path) -> None:
    sessions = database_sessions(f"{store}#ses_0000")
    assert sessions
    ((id, old),) = sessions.documents().items()
    document = json.loads(old)
    asked, answered, closed = document["messages"]
    added = {"info": {**asked["info"], "id": "msg_zzz"}, "parts": [{**asked["parts"][0], "id": "prt_zzz", "text": "Go on."}]}
    answered["parts"].insert(2, {**answered["parts"][1], "id": "prt_aaa", "text": "Then I count."})
    document["messages"] = [asked, answered, added, closed]
    write_sessions(store, OPENCODE, [Change(id, old, json.dumps(document).encode())])
    written = json.loads(sessions.documents()[id])["messages"]
    texts = [part.get("text") for message in written for part in message["parts"]]
    assert texts == [
        "How many crates are in depot 0?",
        None,
        "I look at the folder.",
        "Then I count.",
        None,
        "Go on.",
        "There are 4 crates.",
    ]
    assert [message["info"]["role"] for message in written] == ["user", "assistant", "user", "assistant"]


def test_311_calls_without_results_in_44_sessions_are_healed_at_once(tmp_path: Path) -> None:
    """Interrupted answers were tried again and again, and each try left calls behind (anomalyco/opencode#10616)."""
    path = tmp_path / "opencode.db"
    create(path, 60)

    def strand(connection: sqlite3.Connection) -> None:
        for number in range(311):
            session = f"{number % 44:04d}"
            state = (
                {"status": "pending", "input": {}, "raw": ""} if number % 2 else {"status": "running", "input": {"path": "a"}, "time": {}}
            )
            part = {"type": "tool", "tool": "write", "callID": f"toolu_{number}", "state": state}
            add_part(connection, f"ses_{session}", f"msg_{session}_002", 10 + 2 * number, {"type": "step-start"})
            add_part(connection, f"ses_{session}", f"msg_{session}_002", 11 + 2 * number, part)

    edit(path, strand)
    before = rows(path)
    assert sum(data.get("state", {}).get("status") in ("pending", "running") for data in before.values()) == 311
    assert main(["fix", "--provider", "anthropic", str(path)]) == 0
    after = rows(path)
    assert len(backups_of(path)) == 1
    assert not [data for data in after.values() if data["type"] == "tool" and data["state"]["status"] in ("pending", "running")]
    assert len({id[4:8] for id, data in after.items() if before.get(id) != data}) == 44
    assert main(["fix", "--provider", "anthropic", "--check", str(path)]) == 0


@pytest.mark.parametrize("damage", ["cut", "no state", "no output"])
def test_rows_that_opencode_cannot_read_are_fixed(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "opencode.db"
    create(path)
    tool = rows(path)["prt_0000_004"]
    broken = {
        "cut": json.dumps(tool)[:-20],
        "no state": json.dumps({key: value for key, value in tool.items() if key != "state"}),
        "no output": json.dumps({**tool, "state": {**tool["state"], "output": None, "metadata": {"output": "depot.txt\n", "exit": 0}}}),
    }
    edit(path, lambda connection: connection.execute("UPDATE part SET data = ? WHERE id = 'prt_0000_004'", (broken[damage],)))
    assert main(["fix", str(path)]) == 0
    fixed = rows(path).get("prt_0000_004")
    if damage == "cut":
        assert fixed is None
    else:
        assert fixed and fixed["state"]["status"] == "completed" and fixed["state"]["output"]
        assert isinstance(fixed["state"]["input"], dict)
    assert main(["fix", "--check", str(path)]) == 0
