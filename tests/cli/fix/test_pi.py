"""`chainviz fix` on sessions of pi and OpenClaw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chainviz.cli import main
from tests.cli.fix.sessions import Lines, entry, errors, json_lines, pi_line
from tests.cli.fix.shapes import PI


@pytest.mark.parametrize("reason", ["aborted", "error"])
def test_pi_does_not_send_an_answer_that_broke_off(reason: str, tmp_path: Path, capsys: Any) -> None:
    """A call of such an answer needs no result, and a result for it is one without a call."""
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
        assert f"changes for {label}" in capsys.readouterr().out


def test_the_part_that_a_compaction_kept_is_fixed_and_still_found(tmp_path: Path) -> None:
    """In a pi session, the first kept entry is a result whose call is not sent any more."""
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


def call(*ids: str) -> list[dict[str, Any]]:
    return [{"type": "toolCall", "id": id, "name": "bash", "arguments": {}} for id in ids]


def text(said: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": said}]


def result(id: str, parent: str, called: str) -> dict[str, Any]:
    return entry(id, parent, "toolResult", text("a.txt"), toolCallId=called, toolName="bash", isError=False)


def sent(lines: Lines) -> Lines:
    """Return the messages that pi sends: the path from the root to the last entry."""
    by_id = {each["id"]: each for each in lines}
    path = [lines[-1]]
    while parent := by_id.get(path[0]["parentId"]):
        path.insert(0, parent)
    return [each["message"] for each in path if each["type"] == "message"]


BEFORE = [entry("a", "", "user", text("Look")), entry("b", "a", "assistant", call("t1"))]
ANSWERED = [*BEFORE, result("c", "b", "t1"), entry("d", "c", "assistant", text("Done"))]
LABEL = {"type": "label", "id": "l", "parentId": "b", "targetId": "b", "label": "here"}
BRANCHES: dict[str, tuple[Lines, list[str]]] = {
    "the result is on another branch": ([*ANSWERED, entry("e", "b", "user", text("And?"))], ["user", "assistant", "toolResult", "user"]),
    "a person went back to the call": ([*ANSWERED, LABEL], ["user", "assistant", "toolResult"]),
    "the result came after a person went back": (
        [*BEFORE, result("c", "a", "t1"), entry("d", "c", "user", text("And?"))], ["user", "user", "user"]
    ),
    "a call of each branch was interrupted": (
        [*BEFORE, entry("c", "a", "user", text("And?")), entry("d", "c", "assistant", call("t2", "t3")), result("e", "d", "t3")],
        ["user", "user", "assistant", "toolResult", "toolResult"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BRANCHES)
def test_every_branch_is_fixed_and_no_other_one_changes_with_it(name: str, tmp_path: Path) -> None:
    lines, roles = BRANCHES[name]
    session = tmp_path / "session.jsonl"
    session.write_bytes(json_lines(lines))
    assert errors(session, "pi_session", "anthropic")
    assert main(["fix", str(session)]) == 0
    assert not errors(session, "pi_session", "anthropic") and not errors(session, "pi_session", "anthropic", 1)
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert [each["role"] for each in sent(after)] == roles
    if lines[: len(ANSWERED)] == ANSWERED:
        assert [each for each in after if each in ANSWERED] == ANSWERED
    assert main(["fix", "--check", str(session)]) == 0


@pytest.mark.parametrize("kept", [{}, {"arguments": None}, {"partialJson": '{"comm'}])
def test_a_call_that_was_kept_without_its_arguments_gets_an_empty_object(kept: dict[str, Any], tmp_path: Path) -> None:
    """OpenClaw sends it as it is, and Anthropic refuses every request: “tool_use.input: Field required”."""
    session = tmp_path / "session.jsonl"
    made = {"type": "toolCall", "id": "t1", "name": "session_status", **kept}
    lines = [BEFORE[0], entry("b", "a", "assistant", [made]), result("c", "b", "t1"), entry("d", "c", "user", text("And?"))]
    session.write_bytes(json_lines(lines))
    assert main(["fix", str(session)]) == 0
    after = [json.loads(each) for each in session.read_bytes().splitlines()]
    assert after == [lines[0], entry("b", "a", "assistant", [{**made, "arguments": {}}]), *lines[2:]]
    assert main(["fix", "--check", str(session)]) == 0
