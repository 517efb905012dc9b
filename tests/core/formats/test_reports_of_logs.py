"""Logs and histories as public reports show them: every text is read, and the system text stays one wherever its member is."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.messages import Text
from tests.core.error_classes import claude, contents, user

ANSWER = {
    "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
    "content": [{"type": "text", "text": "Four."}],
}  # fmt: skip
CANDIDATES = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Four."}]}, "finishReason": "STOP"}]}
SLOT = {"systemInstruction": {"parts": [{"text": "Be brief."}]}}
GEMINI = {"request": {**contents(("user", {"text": "hi"})), **SLOT}, "response": CANDIDATES}
OTLP = {"kvlistValue": {"values": [{"key": "type", "value": {"stringValue": "text"}}, {"key": "content", "value": {"stringValue": "hi"}}]}}
ASKED = [{"key": "role", "value": {"stringValue": "user"}}, {"key": "parts", "value": {"arrayValue": {"values": [OTLP]}}}]
OUTPUT = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Four."}]}])
SPAN = {
    "name": "chat",
    "attributes": [
        {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [{"kvlistValue": {"values": ASKED}}]}}},
        {"key": "gen_ai.output.messages", "value": {"stringValue": OUTPUT}},
    ],
}
PYDANTIC = [
    {
        "kind": "request",
        "instructions": "Be brief.",
        "parts": [{"part_kind": "system-prompt", "content": "You count."}, {"part_kind": "user-prompt", "content": "hi"}],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": "Four."}]},
]
FLAT = {"messages": [{"type": "human", "content": "hi", "id": "1"}, {"type": "ai", "content": "Four.", "tool_calls": []}]}
READ: dict[str, tuple[list[Any], list[list[str]]]] = {
    "a request of Claude whose system text comes last, beside its answer": (
        [{"request": {**claude(user()), "system": "Be brief."}, "response": ANSWER}], [["Be brief.", "hi", "Four."]],
    ),
    "lines of a batch of Vertex AI": ([GEMINI, GEMINI], [["Be brief.", "hi", "Four."]] * 2),
    "lines of a batch of Bedrock": (
        [{"recordId": "1", "modelInput": claude(user()), "modelOutput": ANSWER}] * 2, [["hi", "Four."]] * 2,
    ),
    "a span with lists of messages as OTLP arrays": ([{"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}], [["hi", "Four."]]),
    "instructions beside a system prompt": ([PYDANTIC], [["Be brief.", "You count.", "hi", "Four."]]),
    "LangChain messages with a type and a content alone": ([FLAT], [["hi", "Four."]]),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_every_text_is_read_and_written_back(case: str) -> None:
    documents, expected = READ[case]
    content = "\n".join(map(json.dumps, documents)).encode()
    chains = chainviz.load(content)
    assert [[part.text for message in chain for part in message.parts if isinstance(part, Text)] for chain in chains] == expected
    assert all(chain.is_fully_read for chain in chains) and chains[0].to_bytes() in content


def test_a_system_text_between_two_lists_is_edited_in_its_place() -> None:
    document = {"request": {**claude(user()), "system": "Be brief, Ann."}, "about": "Ann", "response": ANSWER}
    masked = chainviz.load(json.dumps(document).encode())[0].apply("mask", own_words="Ann").chain
    (again,) = chainviz.load(masked.to_bytes())
    assert b"Ann" not in masked.to_bytes() and [message.role for message in again] == ["system", "human", "ai"]
    assert b'"about": "[OWN_WORDS_1]"' in again.apply("mask", own_words="brief").chain.to_bytes()


@pytest.mark.parametrize("key", ["info", "error", "trace", "warning", "debug"])
def test_json_that_begins_with_the_name_of_a_level_is_no_log(key: str) -> None:
    (chain,) = chainviz.load(json.dumps({key: {}, "messages": [{"role": "user", "content": "hi"}]}).encode())
    assert chain.warnings == ()


CODEX = (
    {"type": "session_meta", "timestamp": "2026-05-24T21:00:00Z", "payload": {"id": "01a09341-0000-7000-8000-000000000001", "cwd": "/"}},
    {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}},
)
NOT_SENT: dict[str, dict[str, Any]] = {
    "a commit for undoing": {"type": "ghost_snapshot", "ghost_commit": {"id": "abc", "parent": "def"}},
    "a search for tools that finds none": {
        "type": "tool_search_output", "call_id": "call_1", "status": "completed", "execution": "client", "tools": [],
    },
}  # fmt: skip


@pytest.mark.parametrize("item", NOT_SENT)
def test_items_of_codex_without_a_text_are_understood(item: str) -> None:
    content = "\n".join(map(json.dumps, (*CODEX, {"type": "response_item", "payload": NOT_SENT[item]}))) + "\n"
    (chain,) = chainviz.load(content.encode())
    assert chain.is_fully_read and {message.role for message in chain} <= {"human", "tool"}


def test_the_reason_of_a_denied_call_is_its_result() -> None:
    denied = {
        "type": "tool-delete", "toolCallId": "call_1", "state": "output-denied", "input": {"path": "/x"},
        "approval": {"id": "a1", "approved": False, "reason": "Not this one"},
    }  # fmt: skip
    asked = {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Delete it."}]}
    (chain,) = chainviz.load(json.dumps([asked, {"id": "2", "role": "assistant", "parts": [denied]}]).encode())
    assert chain.is_fully_read and [getattr(part, "content", "") for part in chain.messages[-1].parts] == ["Not this one"]
