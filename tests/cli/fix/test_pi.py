"""`chainviz fix` on sessions of pi and OpenClaw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import entry, json_lines, pi_line
from tests.cli.fix.shapes import PI


@pytest.mark.parametrize("reason", ["aborted", "error"])
def test_pi_does_not_send_an_answer_that_broke_off(reason: str, tmp_path: Path, capsys: Any) -> None:
    """Its call needs no result, and a result of it is one without a call."""
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}
    broken = [pi_line("user", content="Look"), pi_line("assistant", content=[call], stopReason=reason)]
    result = pi_line("toolResult", toolCallId="t1", toolName="bash", content=[{"type": "text", "text": "none"}], isError=True)
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines([*broken, pi_line("user", content="Again")]))
    assert main(["fix", "--check", str(session)]) == 0
    session.write_bytes(json_lines([*broken, result, pi_line("user", content="Again")]))
    assert main(["fix", str(session)]) == 0
    lines = session.read_bytes().splitlines()
    assert lines[:2] == json_lines(broken).splitlines() and b"toolResult" not in session.read_bytes()
    assert main(["fix", "--check", str(session)]) == 0


def test_the_provider_is_the_one_of_the_last_answer(tmp_path: Path, capsys: Any) -> None:
    session = tmp_path / "session.jsonl"
    asked, answer, again = json.loads(json.dumps(PI["an interrupted call"]))
    for api, label in (("openai-responses", "OpenAI Responses"), ("cli", "Anthropic Messages")):
        answer["message"]["api"] = api
        session.write_bytes(json_lines([asked, answer, again]))
        assert main(["fix", "--check", str(session)]) == 1
        assert f"what changes for {label}" in capsys.readouterr().out


def test_the_part_that_a_compaction_kept_is_fixed_and_still_found(tmp_path: Path) -> None:
    """Of a pi session: the first kept entry is a result whose call is not sent any more."""
    session = tmp_path / "session.jsonl"
    call = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {}}
    text = {"type": "text", "text": "ok"}
    session.write_bytes(json_lines([
        entry("a", "", "user", [text]), entry("b", "a", "assistant", [call]),
        entry("c", "b", "toolResult", [text], toolCallId="t1", toolName="bash", isError=False), entry("d", "c", "assistant", [text]),
        {"type": "compaction", "id": "e", "parentId": "d", "summary": "So far", "firstKeptEntryId": "c"}, entry("f", "e", "user", [text]),
    ]))  # fmt: skip
    assert main(["fix", str(session)]) == 0
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert after[2]["message"]["role"] == "user" and after[4]["firstKeptEntryId"] == after[2]["id"]
    assert main(["fix", "--check", str(session)]) == 0
