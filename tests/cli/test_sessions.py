"""`chainviz sessions`, `chainviz doctor` and `chainviz.sessions()`: what agents keep in a home folder."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import chainviz
from chainviz.api.sessions import sessions_named
from chainviz.cli import main
from chainviz.core.databases.writing import backups_of
from tests.core.databases.opencode_database import create
from tests.core.sources.test_stores import write_opencode_files
from tests.sessions.test_fix_database import interrupt

ASKED = {
    "type": "user",
    "uuid": "a",
    "parentUuid": None,
    "sessionId": "s",
    "cwd": "/yard/north",
    "message": {"role": "user", "content": "Count"},
}
USE = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}}
CALLED = {"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "message": {"role": "assistant", "content": [USE]}}


RESTED = 1_600_000_000
"""A time at which nothing changes any more."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a session of Claude Code that ends with a call, and a database of opencode with a call without a result."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_DB", "DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    claude = tmp_path / ".claude/projects/-yard-north/s.jsonl"
    claude.parent.mkdir(parents=True)
    claude.write_text("".join(json.dumps(record) + "\n" for record in (ASKED, CALLED)))
    os.utime(claude, (RESTED, RESTED))
    database = tmp_path / ".local/share/opencode/opencode.db"
    create(database, 3)
    with closing(sqlite3.connect(database)) as connection:
        interrupt(connection, "prt_0001_004")
        connection.commit()
    return tmp_path


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["sessions", "--json", *words]) == 0
    return [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]


def test_sessions_of_all_agents_are_listed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(listed(capsys)) == ["s", "ses_0000", "ses_0001", "ses_0002"]
    assert listed(capsys, "--agent", "claude-code") == ["s"]
    assert listed(capsys, "--project", "/yard/depot2") == ["ses_0002"]
    assert sorted(listed(capsys, "--needs-fix")) == ["s", "ses_0001"]
    assert main(["sessions"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith(f"{home}/.local/share/opencode/opencode.db#ses_0000  Crates of depot 0") for line in lines)
    assert main(["sessions", "--agent", "nobody"]) == 2


def test_python_lists_and_opens_them(home: Path) -> None:
    found = chainviz.sessions("opencode")
    assert [session.id for session in found] == ["ses_0002", "ses_0001", "ses_0000"]
    (chain,) = chainviz.load(found[0].address)
    assert len(chain.messages) == 4


def test_doctor_tells_what_would_be_refused_and_fixes_it_after_a_question(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    database = home / ".local/share/opencode/opencode.db"
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "4 sessions of 2 agents checked: 2 would be refused." in said and f"{database}#ses_0001" in said
    monkeypatch.setattr("builtins.input", lambda question: "n")
    assert main(["doctor", "--fix"]) == 1
    assert not backups_of(database)
    monkeypatch.setattr("builtins.input", lambda question: "y")
    assert main(["doctor", "--fix"]) == 0
    assert len(backups_of(database)) == 1 and len(list(home.glob(".claude/projects/*/s.jsonl.backup-*"))) == 1
    capsys.readouterr()
    assert main(["doctor"]) == 0
    assert "4 sessions of 2 agents checked: all are accepted." in capsys.readouterr().out


def test_doctor_counts_what_it_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for choice, said in (("/yard/depot2", "1 session of 1 agent checked: all are accepted."), ("/nowhere", "No session was checked.")):
        assert main(["doctor", "--project", choice]) == 0
        assert capsys.readouterr().out.strip() == said


def test_a_session_that_just_changed_is_not_fixed_with_the_others(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = home / ".claude/projects/-yard-north/s.jsonl"
    os.utime(session)
    assert main(["doctor", "--fix", "--yes"]) == 1
    assert f"{session}: changed " in capsys.readouterr().out
    assert not list(session.parent.glob("*.backup-*")) and len(backups_of(home / ".local/share/opencode/opencode.db")) == 1


def test_doctor_offers_a_hand_off_where_it_only_reads(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = write_opencode_files(home / ".local/share/opencode/storage")
    (home / ".local/share/opencode/opencode.db").unlink()
    before = session.read_bytes()
    assert main(["doctor", "--agent", "opencode-files", "--fix", "--yes"]) == 1
    told = capsys.readouterr().out
    assert "cannot be fixed" in told and "only reads sessions of opencode (files): `chainviz convert SESSION --to opencode" in told
    assert main(["fix", str(session)]) == 2
    assert "chainviz only reads sessions of opencode (files)" in capsys.readouterr().err
    assert session.read_bytes() == before and len(list(session.parent.iterdir())) == 1
    monkeypatch.chdir(home)
    assert main(["convert", str(session), "--to", "opencode", "--install"]) == 0
    installed, command = capsys.readouterr().out.splitlines()[:2]
    assert "opencode import" in command and main(["fix", "--check", installed]) == 0


def test_doctor_watches_and_fixes_what_rests(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    session = home / ".claude/projects/-yard-north/s.jsonl"
    whole, steps = session.read_text(), iter(("grow", "rest", "stop"))
    session.write_text(whole.splitlines(keepends=True)[0])
    os.utime(session, (RESTED, RESTED))

    def sleep(seconds: float) -> None:
        step = next(steps)
        if step == "stop":
            raise KeyboardInterrupt
        session.write_text(whole)
        if step == "rest":
            os.utime(session, (RESTED + 60, RESTED + 60))

    monkeypatch.setattr("time.sleep", sleep)
    assert main(["doctor", "--agent", "claude-code", "--watch", "--fix", "--yes"]) == 130
    said = capsys.readouterr().out
    assert "all are accepted." in said.partition("Watching")[0]
    assert said.partition("Watching")[2].count("would be refused") == 1 and "fixed; the backup is" in said


def test_sessions_are_named_by_a_part_of_their_id(home: Path) -> None:
    assert [session.id for session in sessions_named("s")] == ["s"], "the whole id goes first"
    assert [session.id for session in sessions_named("ses_")] == ["ses_0002", "ses_0001", "ses_0000"]
    assert [session.id for session in sessions_named("0001")] == ["ses_0001"]
    assert sessions_named("0001", "claude-code") == [] == sessions_named("nothing")
