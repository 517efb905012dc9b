"""Repair for one provider: what its API rejects is fixed, nothing else is touched."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import document_of
from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.tree import parse
from chainviz.core.formats.vendors import PROVIDERS, get_provider
from chainviz.core.load import load_file
from chainviz.core.operations.contract import Context
from chainviz.core.operations.repair import OPERATION, RepairOptions
from chainviz.core.providers.check import check

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ORPHAN = [{"role": "user", "content": "Hi"}, {"role": "tool", "tool_call_id": "c9", "content": "late"}]
DANGLING = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [CALL]}]


def repaired(messages: list[dict[str, Any]], goal: str) -> tuple[list[str], list[str], list[str]]:
    """Roles afterwards, the errors that are left, and what was done."""
    chain = load_file(json.dumps(messages).encode(), "openai_chat")[0]
    outcome = OPERATION.run(MemoryChain(chain.messages, chain.format), RepairOptions(goal=goal), Context())
    after = apply_splices(chain.messages, outcome.changes)
    left = check(get_provider(goal), parse(after), "neutral")
    errors = [problem.rule for problem in left if problem.severity == "error"]
    return [message.role for message in after], errors, [row.action for row in outcome.report]


@pytest.mark.parametrize("messages", [ORPHAN, DANGLING, [*DANGLING, {"role": "user", "content": "Well?"}]])
@pytest.mark.parametrize("provider", [provider.name for provider in PROVIDERS])
def test_the_provider_accepts_what_is_left(messages: list[dict[str, Any]], provider: str) -> None:
    assert repaired(messages, provider)[1] == []


def test_what_the_provider_accepts_stays() -> None:
    begins = [{"role": "assistant", "content": "Welcome."}, {"role": "user", "content": "Hi"}]
    assert repaired(begins, "openai_chat") == (["ai", "human"], [], [])


def test_two_human_messages_in_a_row_are_no_error_of_an_api() -> None:
    twice = [{"role": "user", "content": "Hi"}, {"role": "user", "content": "Well?"}]
    assert repaired(twice, "anthropic")[2] == []


def test_a_session_that_ends_with_a_call_is_valid_until_it_is_resumed() -> None:
    chain = load_file(json.dumps(DANGLING).encode(), "openai_chat")[0]
    given = MemoryChain(tuple(replace(message, source=()) for message in chain.messages), "anthropic")
    assert not OPERATION.run(given, RepairOptions(goal="anthropic"), Context()).changes
    outcome = OPERATION.run(given, RepairOptions(goal="anthropic", resumes=True), Context())
    assert [row.action for row in outcome.report] == ["answer-call"]


def test_what_only_its_spelling_makes_invalid_is_written_anew() -> None:
    flat = {"id": "c1", "name": "look", "arguments": {"at": "x"}}
    messages = [
        {"role": "user", "content": "Hi", "tool_calls": None},
        {"role": "assistant", "content": "", "tool_calls": [flat]},
        {"role": "tool", "id": "c1", "content": "seen"},
    ]
    (chain,) = chainviz.load(json.dumps(messages).encode())
    result = chain.apply("repair", goal="openai_chat")
    written = json.loads(b"".join(document_of([result.chain])))
    assert "tool_calls" not in written[0] and written[1]["tool_calls"][0]["function"]["name"] == "look"
    assert written[2]["tool_call_id"] == "c1" and result.warnings == ()
    assert {row.action for row in result.report} == {"rewrite-message"}


def test_a_response_stays_a_response() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    response = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    (chain,) = chainviz.load(json.dumps(response).encode())
    for options in ({}, {"goal": "openai_chat"}, {"only": ["insert-opening", "answer-call", "call-to-text"]}):
        written = json.loads(b"".join(document_of([chain.apply("repair", **options).chain])))
        assert written["choices"][0]["message"]["role"] == "assistant", options


SESSION = [
    {"type": "user", "message": {"role": "user", "content": "Hi"}},
    {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {}}]}},
    {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]}},
]
CONTENTS = [
    {"role": "user", "parts": [{"text": "Hi"}]},
    {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"output": "seen"}}}]},
]


def test_a_signature_is_wanted_in_the_form_of_the_api_and_put_there_by_convert() -> None:
    lines = "\n".join(json.dumps({"uuid": f"u{i}", "sessionId": "s", **line}) for i, line in enumerate(SESSION))
    (session,) = chainviz.load(lines.encode(), "claude_code")
    assert session.verdict("gemini-3").state == "accepted"
    assert "cannot store a call's signature" in session.apply("repair", only=["sign-calls"]).warnings[-1]
    moved = session.apply("convert", to="gemini", provider="gemini-3")
    assert moved.warnings[1] == "1 call gets the mark skip_thought_signature_validator in place of a signature."
    assert moved.chain.verdict("gemini-3").state == "accepted"

    (contents,) = chainviz.load(json.dumps({"contents": CONTENTS}).encode(), "gemini")
    assert contents.verdict("gemini-3").state == "rejected"
    signed = contents.apply("repair", goal="gemini-3")
    again = chainviz.load(b"".join(document_of([signed.chain])))[0]
    assert signed.warnings == () and again.verdict("gemini-3").state == "accepted"


def test_a_turn_that_moves_to_bedrock_is_one_message() -> None:
    other = {**CALL, "id": "c2"}
    turn = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [CALL, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "seen"},
        {"role": "tool", "tool_call_id": "c2", "content": "heard"},
        {"role": "user", "content": "And?"},
    ]
    (chain,) = chainviz.load(json.dumps(turn).encode())
    moved = b"".join(document_of([chain.apply("convert", to="bedrock_converse").chain]))
    kinds = [[next(iter(block)) for block in message["content"]] for message in json.loads(moved)]
    assert kinds == [["text"], ["toolUse", "toolUse"], ["toolResult", "toolResult", "text"]]
    (again,) = chainviz.load(moved)
    assert again.verdict("bedrock").state == "accepted"
    broken = again.apply("edit", path="s1.p1.m1", action="delete").chain
    assert broken.verdict("bedrock").state == "rejected"
    fixed = broken.apply("repair").chain
    (last,) = chainviz.load(b"".join(document_of([fixed])))
    assert last.verdict("bedrock").state == "accepted" and len(json.loads(b"".join(document_of([fixed])))) == 3


@pytest.mark.parametrize("provider", ["gemini-2.5", "gemini-3"])
def test_a_function_response_without_a_name_gets_that_of_its_call(provider: str) -> None:
    call = {"functionCall": {"id": "c1", "name": "docks", "args": {}}, "thoughtSignature": "AAAA"}
    response = {"functionResponse": {"id": "c1", "name": "", "response": {"output": "4"}}}
    contents = [{"role": "user", "parts": [{"text": "Docks?"}]}, {"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]
    (chain,) = chainviz.load(contents, "gemini")
    assert [(each.rule, each.fixes) for each in chain.problems(provider) if each.provider] == [("result-name", ("name-result",))]
    response["functionResponse"]["name"] = "docks"
    assert json.loads(chain.apply("repair", goal=provider).chain.to_bytes()) == contents


ITEM = {"type": "message", "id": "msg_17", "role": "assistant", "status": "completed"}
ANSWERS = [{**ITEM, "content": [{"type": "output_text", "text": text, "annotations": []}]} for text in ("Three.", "Four.")]
CALLED = [{**CALL, "id": "two words"}]


@pytest.mark.parametrize(
    ("format", "goal", "chain"),
    [
        ("openai_responses", "openai_responses", {"input": [{"role": "user", "content": "Docks?"}, *ANSWERS]}),
        ("openai_chat", "anthropic", [DANGLING[0], {**DANGLING[1], "tool_calls": CALLED}, {"role": "user", "content": " "}]),
    ],
)
def test_a_repaired_unit_is_not_read_from_the_upload(format: str, goal: str, chain: Any) -> None:
    """The store reads a unit with a place in the upload from there, so its text must be what the upload has there."""
    content = json.dumps(chain, indent=1).encode()
    loaded = load_file(content, format)[0]
    outcome = OPERATION.run(MemoryChain(loaded.messages, loaded.format), RepairOptions(goal=goal), Context())
    after = apply_splices(loaded.messages, outcome.changes)
    assert outcome.changes
    for fragment in [each for message in after for each in message.source if each.start >= 0]:
        assert content[fragment.start :].startswith(fragment.text.encode())
