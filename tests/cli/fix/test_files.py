"""`chainviz fix` and the files it is given: requests, what cannot be read, what changes meanwhile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import errors, json_lines, said
from tests.cli.fix.shapes import CLAUDE


def test_what_is_not_utf_8_is_refused(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines(CLAUDE["an interrupted call"]).decode().encode("utf-16"))
    assert main(["fix", str(session)]) == 2 and "save it as UTF-8 first" in capsys.readouterr().err


ASKS = (
    '{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": '
    '{"name": "ls", "arguments": "{}"}}]}, {"role": "user", "content": "b"}'
)
REQUEST = f'{{"model": "gpt-4o", "messages": [{ASKS}], "temperature": 1}}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'{{"messages": [{ASKS},], "temperature": 1}}', "a value is missing"),
        (f'{{"messages": [{ASKS}, {{"role": "user", "content": "x" "y"}}, {ASKS}], "temperature": 1}}', "a comma or closing bracket"),
        (f'{{"messages": [{ASKS}, {{"role": "us', "cut off"),
        ('{"messages": [{"role": "user", "content": "a"}', "cut off"),
        (f"10:00 INFO start\n10:01 DEBUG body={REQUEST}\n10:02 INFO end\n", "contains more than the messages"),
        (f"curl https://api.openai.com/v1/chat/completions -d '{REQUEST}'", "contains more than the messages"),
        (json.dumps({"job": 7, "request": REQUEST}), "contains more than the messages"),
    ],
)
def test_what_a_fix_would_lose_is_left_alone(text: str, reason: str, tmp_path: Path, capsys: Any) -> None:
    """A document that is broken JSON, and messages inside of something else."""
    path = tmp_path / "request.json"
    path.write_text(text)
    assert main(["fix", str(path)]) == 2
    assert reason in capsys.readouterr().err
    assert path.read_text() == text and list(tmp_path.iterdir()) == [path]


def test_the_system_text_beside_the_messages_is_part_of_the_request(tmp_path: Path) -> None:
    """Its cache mark is one of the four that Anthropic accepts."""
    marked = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]
    turns = [{"role": role, "content": marked} for role in ("user", "assistant", "user", "assistant")]
    path = tmp_path / "request.json"
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "system": marked, "messages": turns}))
    assert errors(path, "anthropic", "anthropic")
    assert main(["fix", str(path), "--provider", "anthropic"]) == 0
    assert path.read_text().count("cache_control") == 4
    assert errors(path, "anthropic", "anthropic") == []


def test_a_session_that_changes_meanwhile_is_left_alone(tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines(CLAUDE["a call at the end"]))

    def written_meanwhile(*arguments: Any) -> None:
        with session.open("ab") as file:
            file.write(b"{}\n")

    monkeypatch.setattr("chainviz.fixes.backups.shutil.copystat", written_meanwhile)
    assert main(["fix", str(session)]) == 2
    assert "changed meanwhile: the agent still runs" in capsys.readouterr().err
    assert session.read_bytes().endswith(b"{}\n") and list(tmp_path.iterdir()) == [session]


def test_one_bad_file_does_not_stop_the_others(tmp_path: Path, capsys: Any) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_bytes(json_lines(CLAUDE["a call at the end"]))
    bad.write_bytes(b"only words")
    assert main(["fix", str(bad), str(tmp_path / "none"), str(good)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2
    assert errors(good, "claude_code", "anthropic") == []
    assert main(["fix", "--restore", str(bad)]) == 2
    assert main(["fix", "--restore", str(tmp_path / "none" / "none.jsonl")]) == 2


def test_the_original_is_put_back_and_nothing_more(tmp_path: Path, capsys: Any) -> None:
    """Messages since the fix are kept in a backup. The fixed session never counts as the original."""
    session = tmp_path / "session.jsonl"
    original = json_lines(CLAUDE["a call at the end"])
    session.write_bytes(original)
    main(["fix", str(session)])
    grown = session.read_bytes() + json_lines([said(9, "More")])
    session.write_bytes(grown)
    assert main(["fix", "--restore", str(session)]) == 0 and session.read_bytes() == original
    (kept,) = tmp_path.glob("session.jsonl.replaced-*")
    assert kept.read_bytes() == grown and kept.name in capsys.readouterr().out
    assert main(["fix", "--restore", str(session)]) == 0 and session.read_bytes() == original
    assert "already what the newest backup holds" in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 3
