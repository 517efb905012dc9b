"""`chainviz hook`: what an agent runs. It answers with JSON, never fails, and never writes into the session."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.shared_folder import SAMPLES

BROKEN = SAMPLES / "openai_chat/broken_pending_and_orphan.json"
VALID = SAMPLES / "claude_code/ok_session.jsonl"


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CHAINVIZ_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], act: str, event: Any, *words: str) -> dict[str, str]:
    text = event if isinstance(event, str) else json.dumps(event)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["hook", act, "claude-code", *words]) == 0
    answer: dict[str, str] = json.loads(capsys.readouterr().out)
    return answer


def test_a_session_that_would_be_refused_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    answer = run(monkeypatch, capsys, "check", {"transcript_path": str(BROKEN)})
    assert answer["systemMessage"].startswith("chainviz: the API would refuse this session. A message in pair ")
    assert answer["systemMessage"].endswith(f"Quit and run: chainviz fix {BROKEN}")


@pytest.mark.parametrize("event", [{"transcript_path": str(VALID)}, {"transcript_path": "/nowhere"}, "no json", "[]", {}])
def test_nothing_is_said_of_a_valid_or_missing_session(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], event: Any
) -> None:
    assert run(monkeypatch, capsys, "check", event) == {}


def test_a_copy_replaces_those_with_which_it_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], data: Path, tmp_path: Path
) -> None:
    session = tmp_path / "s[1].jsonl"
    event = {"transcript_path": str(session)}
    for content in (b"one\n", b"one\ntwo\n", b"summary\n", b"summary\nthree\n"):
        session.write_bytes(content)
        assert run(monkeypatch, capsys, "copy", event) == {}
    copies = sorted((data / "copies/claude-code").iterdir())
    assert [copy.read_bytes() for copy in copies] == [b"one\ntwo\n", b"summary\nthree\n"]
    assert all(copy.stat().st_mode & 0o077 == 0 for copy in copies)
    assert "chainviz copied" in run(monkeypatch, capsys, "copy", {**event, "trigger": "manual"})["systemMessage"]


def test_gemini_is_checked_as_it_was_before_it_started(tmp_path: Path) -> None:
    from chainviz.integrations.agents import _resumed

    named = tmp_path / "session-2026-11-27T20-02-f9414654.jsonl"
    named.write_bytes(b'{"sessionId":1}\n{"a":1}\n{"sessionId":1}\n{"$set":{}}\n')
    assert _resumed("gemini-cli", named) == (named, b'{"sessionId":1}\n{"a":1}\n'), "resumed within the minute of its start"
    named.write_bytes(b'{"sessionId":1}\n{"$set":{}}\n')
    assert _resumed("gemini-cli", named) == (named, named.read_bytes())
    for name in ("session-2026-11-27T20-01-f9414654.jsonl", "session-2026-11-27T20-01-f9414654.jsonl.backup-1", "session-1-other123.jsonl"):
        (tmp_path / name).write_bytes(name.encode())
    earlier = tmp_path / "session-2026-11-27T20-01-f9414654.jsonl"
    assert _resumed("gemini-cli", named) == (earlier, earlier.name.encode())


def test_open_without_a_session_here_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["hook", "open", "codex"]) == 2
    assert capsys.readouterr().err == f"chainviz: There is no session of codex in {tmp_path}.\n"
