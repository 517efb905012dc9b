"""A chain becomes a session that another agent resumes: in its place, with its own facts in every line, over no other file."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.api.sessions import hand_off
from chainviz.cli import main
from chainviz.core.chain.messages import ToolCall
from chainviz.core.errors import ChainError
from tests.shared_folder import shared

TEXT = "How many crates?\u2028And \u0085 where, \ud83d?"
CHAIN = [
    {"role": "system", "content": "Be terse."},
    {"role": "user", "content": TEXT},
    {"role": "assistant", "content": "Looking.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "shell", "arguments": '{"n": 1.0, "big": 12345678901234567890123}'}}
    ]},
    {"role": "tool", "tool_call_id": "call_1", "content": "4"},
    {"role": "assistant", "content": "Four."},
    {"role": "user", "content": "Thanks"},
]  # fmt: skip
PLACES = {
    "codex": ("CODEX_HOME", "sessions/*/*/*/rollout-*.jsonl"),
    "claude-code": ("CLAUDE_CONFIG_DIR", "projects/*/*.jsonl"),
    "gemini-cli": ("", "gemini-cli-*.jsonl"),
    "qwen-code": ("QWEN_HOME", "projects/*/chats/*.jsonl"),
    "opencode": ("", "opencode-ses_*.json"),
}


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(CHAIN))
    return path


@pytest.mark.parametrize("agent", PLACES)
def test_a_session_is_put_where_the_agent_looks(
    agent: str, run_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variable, pattern = PLACES[agent]
    home, project = tmp_path / "home", tmp_path / "my project"
    project.mkdir()
    home.mkdir()
    monkeypatch.chdir(home)
    if variable:
        monkeypatch.setenv(variable, str(home))
    assert main(["convert", str(run_file), "--to", agent, "--install", "--project", str(project)]) == 0
    (session,) = home.glob(pattern)
    said = capsys.readouterr()
    assert str(session) in said.out and f"cd '{project}' && " in said.out
    assert "1 system message is left out" in said.err and "shell" in said.err
    assert session.stat().st_mode & 0o077 == 0

    (read,) = chainviz.load(session)
    assert read.is_fully_read and read.problems() == []
    texts = [part.text.replace("\ud83d", "\ufffd") for message in read for part in message.parts if hasattr(part, "text")]
    assert texts == [TEXT.replace("\ud83d", "\ufffd"), "Looking.", "Four.", "Thanks"], "half an emoji is replaced if the API refuses it"
    (call,) = [part for message in read for part in message.parts if isinstance(part, ToolCall)]
    assert json.loads(call.arguments) == {"n": 1.0, "big": 12345678901234567890123} and "1.0" in call.arguments
    assert session.stem.rpartition("-")[2] in said.out


def test_each_line_of_claude_code_has_what_its_own_have(run_file: Path, tmp_path: Path) -> None:
    (chain,) = chainviz.load(run_file)
    lines = [json.loads(line) for line in hand_off(chain, "claude-code", folder=tmp_path).content.decode().split("\n") if line]
    assert [line["parentUuid"] for line in lines] == [None, *(line["uuid"] for line in lines[:-1])]
    times = [line["timestamp"] for line in lines]
    assert len({line["sessionId"] for line in lines}) == 1 and times == sorted(set(times))
    real = _lines(shared("transcripts", "agents", "claude-code", "d-kimuson__5c0375b4-57a5-4f26-b12d-d022ee4e51b7.jsonl"))
    for kind in ("user", "assistant"):
        for get in (dict.keys, lambda line: line["message"].keys()):
            always = set.intersection(*(set(get(line)) for line in real if line["type"] == kind))
            ours = [set(get(line)) for line in lines if line["type"] == kind]
            assert all(always - {"requestId"} <= each for each in ours), kind


def test_codex_has_a_head_and_opencode_ids_in_order(run_file: Path, tmp_path: Path) -> None:
    (chain,) = chainviz.load(run_file)
    made = hand_off(chain, "codex", folder=tmp_path)
    head, *lines = [json.loads(line) for line in made.content.decode().split("\n") if line]
    assert head["type"] == "session_meta" and head["payload"]["id"] == made.session.id and head["payload"]["cwd"] == str(tmp_path)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["timestamp"]) for line in lines)
    real = _lines(shared("transcripts", "agents", "codex", "git-ai-project__codex-session-updated.jsonl"))
    assert real[0]["payload"].keys() - {"model_provider"} <= head["payload"].keys()

    session = json.loads(hand_off(chain, "opencode", folder=tmp_path, model="local/m").content)
    ids = [message["info"]["id"] for message in session["messages"]]
    parts = [part["id"] for message in session["messages"] for part in message["parts"]]
    assert ids == sorted(set(ids)) and parts == sorted(set(parts)) and len(parts) == 5
    question, answer = session["messages"][0]["info"], session["messages"][1]["info"]
    assert question["model"] == {"providerID": "local", "modelID": "m"} and answer["parentID"] == question["id"]
    again = json.loads(hand_off(chain, "opencode", folder=tmp_path).content)
    assert again["info"]["id"] != session["info"]["id"] and again["messages"][0]["info"]["id"] not in ids


@pytest.mark.parametrize("agent", PLACES)
def test_a_broken_session_is_fixed_on_the_way(agent: str, tmp_path: Path) -> None:
    (chain,) = chainviz.load([message for message in CHAIN if message["role"] != "tool"])
    made = hand_off(chain, agent, folder=tmp_path)
    path = tmp_path / ("session.json" if agent == "opencode" else "session.jsonl")
    path.write_bytes(made.content)
    (read,) = chainviz.load(path)
    assert read.problems() == [] and any("no result follows" in warning for warning in made.warnings)


def test_own_sessions_and_foreign_reasoning(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    anthropic = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [thinking, {"type": "text", "text": "Yo"}]}]
    path = tmp_path / "anthropic.json"
    path.write_text(json.dumps({"model": "claude-x", "max_tokens": 9, "messages": anthropic}))
    (chain,) = chainviz.load(path)
    for agent in ("codex", "opencode"):
        assert b"Hm." not in hand_off(chain, agent, folder=tmp_path).content
    own = tmp_path / "own.jsonl"
    own.write_bytes(hand_off(chain, "claude-code", folder=tmp_path).content)
    first = own.read_bytes()
    (again,) = chainviz.load(own)
    second = hand_off(again, "claude-code", folder=tmp_path).content
    assert [line["message"] for line in _rows(second)] == [line["message"] for line in _rows(first)]
    assert {line["sessionId"] for line in _rows(second)}.isdisjoint(line["sessionId"] for line in _rows(first))


def test_what_cannot_be_handed_off(run_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (chain,) = chainviz.load(run_file)
    made = hand_off(chain, "codex", folder=tmp_path)
    made.write(tmp_path / "there")
    with pytest.raises(ChainError, match="never replaces a file"):
        made.write(tmp_path / "there")
    with pytest.raises(ChainError, match="not a folder"):
        hand_off(chain, "codex", folder=tmp_path / "nowhere")
    with pytest.raises(ChainError, match="choose codex, claude-code, gemini-cli, qwen-code, opencode"):
        hand_off(chain, "cursor", folder=tmp_path)
    (alone,) = chainviz.load([{"role": "system", "content": "Be terse."}])
    with pytest.raises(ChainError, match="no message to hand over"):
        hand_off(alone, "codex", folder=tmp_path)
    convert = ["convert", str(run_file), "--to"]
    assert main([*convert, "codex"]) == 2 and "--install or --out" in capsys.readouterr().err
    assert main([*convert, "openai_chat", "--install"]) == 2 and "cannot take over" in capsys.readouterr().err
    assert main([*convert, "openai_chat"]) == 2 and "--out" in capsys.readouterr().err
    assert main([*convert, "codex", "--out", str(tmp_path / "own.jsonl"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(tmp_path / "own.jsonl")


def _lines(path: Path) -> list[Any]:
    return [row for row in map(json.loads, path.read_text().splitlines()) if row["type"] in ("user", "assistant", "session_meta")]


def _rows(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.decode().split("\n") if line]
