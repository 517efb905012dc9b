"""What a session's agent will not send again: counted by why, with bytes and places, the same on every way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import chainviz
from chainviz.cli import main

TEXTS = {"a": "Count the crates.", "b": "Four.", "c": "And the yard?", "d": "Nine.", "e": "Older: four.", "f": "Go on.", "g": "Done."}


def line(id: str, parent: str | None, **more: Any) -> dict[str, Any]:
    kind = "assistant" if id in "bdgx" else "user"
    content = [{"type": "text", "text": TEXTS.get(id, f"text {id}")}]
    message = {"role": kind, "content": content, **({"id": f"msg_{id}", "type": "message"} if kind == "assistant" else {})}
    shared = {"isSidechain": False, "sessionId": "s", "cwd": "/p", "version": "2.0.14", "timestamp": "2026-01-01T00:00:00.000Z"}
    return {"parentUuid": parent, **shared, "type": kind, "message": message, "uuid": id, **more}


def session(path: Path, *lines: dict[str, Any]) -> str:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return str(path)


def main_chain(path: str) -> chainviz.Chain:
    return chainviz.load(path)[0]


def test_messages_before_a_compaction_are_lost(tmp_path: Path) -> None:
    lines = [line("a", None), line("b", "a"), line("e", None, isCompactSummary=True), line("f", "e"), line("g", "f")]
    (lost,) = main_chain(session(tmp_path / "s.jsonl", *lines)).lost_on_resume
    assert (lost.reason, lost.messages, lost.size) == ("compaction", 2, len(TEXTS["a"] + TEXTS["b"]))
    assert (lost.first, lost.last) == ("s1.h.m0", "s1.p1.m0")


def test_branches_of_rewinds_are_lost_once_and_sub_agents_are_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        line("a", None), line("b", "a"), line("c", "b"), line("d", "c"),  # left
        line("h", "d"),  # left too, behind what was left
        line("k", "b"),  # a second way that was left
        line("s1", None, isSidechain=True, agentId="x1"),
        line("f", "b"), line("g", "f"),
    ]  # fmt: skip
    path = session(tmp_path / "s.jsonl", *lines)
    chain, *others = chainviz.load(path)
    (lost,) = chain.lost_on_resume
    assert (lost.reason, lost.messages) == ("branch", 4)
    assert lost.size == len(TEXTS["c"] + TEXTS["d"] + "text h" + "text k")
    assert "line 3" in lost.first and "line 6" in lost.last
    assert all(other.lost_on_resume == () for other in others)

    assert main(["show", path]) == 0
    said = capsys.readouterr().out
    assert said.count("not sent again on resume: 4 messages on branches that a rewind left") == 1
    assert main(["show", path, "--json"]) == 0
    rows = [json.loads(row)["lost_on_resume"] for row in capsys.readouterr().out.splitlines()]
    assert rows == [[lost._asdict()], *([] for _ in others)]


def test_sessions_tell_it_of_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    folder = tmp_path / ".claude" / "projects" / "-p"
    folder.mkdir(parents=True)
    session(folder / "one.jsonl", line("a", None), line("e", None, isCompactSummary=True), line("g", "e"))
    session(folder / "two.jsonl", line("a", None), line("b", "a"))
    assert main(["sessions", "--agent", "claude-code", "--lost"]) == 0
    assert capsys.readouterr().out.count("not sent again on resume: 1 message before its last compaction (17 bytes, s1.h.m0)") == 1
    assert main(["sessions", "--agent", "claude-code", "--lost", "--json"]) == 0
    rows = [json.loads(row)["lost_on_resume"] for row in capsys.readouterr().out.splitlines()]
    assert sorted(map(len, rows)) == [0, 1]
    assert main(["sessions", "--json"]) == 0
    assert "lost_on_resume" not in capsys.readouterr().out


def test_what_is_no_session_loses_nothing(tmp_path: Path) -> None:
    (chain,) = chainviz.load([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yo"}])
    assert chain.lost_on_resume == ()
    compacted = main_chain(session(tmp_path / "s.jsonl", line("a", None), line("e", None, isCompactSummary=True)))
    assert compacted.lost_on_resume and compacted.convert("openai_chat").chain.lost_on_resume == ()
