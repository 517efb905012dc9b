"""Qwen Code sessions: Gemini's contents in records that form a tree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Thinking, ToolResult
from chainviz.core.formats import get_format
from chainviz.core.formats.contract import Style
from chainviz.core.load import load_file
from chainviz.fixes.fix import fix_session
from tests.core.formats.chains import exported
from tests.shared_folder import shared


def record(uuid: str, parent: str | None, kind: str, *parts: object, **members: object) -> dict[str, object]:
    role = "model" if kind == "assistant" else "user"
    message = {"message": {"role": role, "parts": [*parts]}} if parts else {}
    return {"uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-08-01T10:00:00Z", "type": kind, **message, **members}


CALL = {"functionCall": {"id": "call_1", "name": "ls", "args": {"p": "d"}}}
RESPONSE = {"functionResponse": {"id": "call_1", "name": "ls", "response": {"output": "4 docks"}}}
SESSION = (
    record("a", None, "user", {"text": "Docks?"}),
    record("b", "a", "system", subtype="ui_telemetry", systemPayload={}),
    record("c", "b", "assistant", {"text": "I look.", "thought": True}, CALL),
    record("d", "c", "tool_result", RESPONSE, toolCallResult={"callId": "call_1", "resultDisplay": "4 docks"}),
    record("e", "d", "assistant", {"text": "Four."}),
)


def session(path: Path, *records: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def fixed(*records: dict[str, object]) -> tuple[list[dict[str, object]], tuple[str, ...]]:
    content = "".join(json.dumps(each) + "\n" for each in records).encode()
    found = fix_session(content, "session", lambda before, result: None)
    return [json.loads(line) for line in found.new.splitlines()], found.damage


def test_the_contents_are_the_chain_and_system_records_are_carried(tmp_path: Path) -> None:
    (chain,) = load_file(session(tmp_path / "chat.jsonl", *SESSION))
    assert chain.format == "qwen_code"
    assert [message.role for message in chain.messages] == [HUMAN, AI, TOOL, AI]
    assert chain.messages[1].parts[0] == Thinking("I look.", origin=0)
    assert [span.ordinal for span in chain.envelope.carried] == [1]
    content = (tmp_path / "chat.jsonl").read_bytes()
    assert exported(content, chain) == content


def test_a_path_that_was_left_is_a_chain_of_its_own(tmp_path: Path) -> None:
    again = record("f", "b", "user", {"text": "Cranes?"})
    main, left = load_file(session(tmp_path / "chat.jsonl", *SESSION, again))
    assert [message.role for message in main.messages] == [HUMAN, HUMAN]
    assert [message.role for message in left.messages] == [HUMAN, AI, TOOL, AI]


def test_the_result_that_a_fix_adds_is_a_linked_record() -> None:
    records, _ = fixed(*SESSION[:3], record("e", "c", "user", {"text": "continue"}))
    added = records[3]
    assert added["type"] == "tool_result" and added["sessionId"] == "s"
    assert added["parentUuid"] == "c" and records[4]["parentUuid"] == added["uuid"]
    assert added["message"]["parts"][0]["functionResponse"]["id"] == "call_1"  # type: ignore[index]


def test_a_call_at_the_end_is_answered() -> None:
    records, _ = fixed(*SESSION[:3])
    assert [each["type"] for each in records] == ["user", "system", "assistant", "tool_result"]


def test_a_record_whose_parent_is_gone_is_linked_and_named() -> None:
    records, damage = fixed(*SESSION[:3], *SESSION[4:])
    assert records[-1]["parentUuid"] == records[-2]["uuid"]
    assert "Line 4" in damage[0]


def test_a_changed_result_changes_what_the_screen_showed(tmp_path: Path) -> None:
    (chain,) = load_file(session(tmp_path / "chat.jsonl", *SESSION))
    result = chain.messages[2]
    assert isinstance(result.parts[0], ToolResult)
    changed = replace(result, parts=(replace(result.parts[0], content="gone"),))
    (fragment,) = get_format("qwen_code").write(changed, Style())
    assert "4 docks" not in fragment.text


def test_a_real_session() -> None:
    (chain,) = load_file(shared("transcripts", "agents", "qwen", "vshulcz__registry-qwen.jsonl"))
    assert [message.role for message in chain.messages] == [HUMAN, AI]


def test_a_record_that_was_written_twice_is_named_and_removed() -> None:
    records, damage = fixed(*SESSION[:3], *SESSION[2:])
    assert records == [*SESSION]
    assert damage == ("Line 4 is line 3 once more and is removed.",)
