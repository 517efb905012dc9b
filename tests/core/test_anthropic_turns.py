"""Anthropic's rules about neighbouring messages and about what a request defines: verdicts, and the fixes that end them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.formats.vendors.anthropic.turn_rules import claude_model
from tests.core.claude_messages import assistant, used, user

OPUS = "claude-opus-4-8"
USER: dict[str, Any] = {"role": "user", "content": "hi"}
TEXT = {"type": "text", "text": "ok"}


def use(id: str, **members: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "docks", "input": {}, **members}


def system(words: str = "be brief") -> dict[str, Any]:
    return {"role": "system", "content": words}


def chain_of(messages: list[Any], model: str = OPUS, **members: Any) -> chainviz.Chain:
    around = {"model": model} if model else {}
    (chain,) = chainviz.load(json.dumps({**around, "max_tokens": 9, "messages": messages, **members}).encode(), "anthropic")
    return chain


def said(chain: chainviz.Chain) -> list[str]:
    """Errors and warnings of Anthropic: rule, severity and index of the message."""
    problems = [each for each in chain.problems("anthropic") if each.provider and each.severity in ("error", "warning")]
    return [f"{each.rule} {each.severity} {each.message}" for each in problems]


def fixed(chain: chainviz.Chain) -> dict[str, Any]:
    """The request after the errors are fixed, which leaves none and which a second repair does not change."""
    result = chain.apply("repair", goal="anthropic")
    again = result.chain.apply("repair", goal="anthropic")
    assert not [each for each in said(result.chain) if " error " in each], said(result.chain)
    assert again.chain.to_bytes() == result.chain.to_bytes()
    document: dict[str, Any] = json.loads(result.chain.to_bytes())
    return document


CODE = {"caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}}
RUN = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "await docks()"}}
RAN = {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {"type": "code_execution_result"}}


@pytest.mark.parametrize(
    "messages",
    [
        [USER, assistant(TEXT, use("a")), assistant(use("b")), user(used("a"), used("b"))],
        [USER, assistant(use("a")), assistant(TEXT), user(used("a")), assistant(TEXT), USER],
        [USER, assistant(use("a")), assistant(use("b")), assistant(use("c")), user(used("c")), user(used("a"), used("b"))],
        [USER, assistant(use("a")), user(used("a")), assistant(use("b")), assistant(TEXT), user(used("b"))],
        [USER, assistant(RUN, use("a", **CODE)), user(used("a")), assistant(RAN, TEXT), USER],
        [USER, assistant(RUN, use("a", **CODE)), user(used("a")), assistant(use("b", **CODE)), user(used("b")), assistant(RAN), USER],
    ],
)
def test_turns_that_the_api_joins_are_accepted(messages: list[Any]) -> None:
    chain = chain_of(messages)
    assert said(chain) == []
    assert chain.apply("repair", goal="anthropic").chain.to_bytes() == chain.to_bytes()


@pytest.mark.parametrize(
    ("messages", "rules"),
    [
        ([USER, assistant(use("a")), USER, assistant(use("b")), user(used("a"), used("b"))], {"result-missing", "result-without-call"}),
        ([USER, assistant(use("a")), assistant(use("b")), user(used("b"))], {"result-missing"}),
        ([USER, assistant(use("a")), user(used("a")), assistant(RAN, TEXT), USER], {"server-result-without-call"}),
        ([USER, assistant(RUN, use("a", **CODE)), user(used("a")), USER, assistant(RAN), USER], {"text-beside-result"}),
    ],
)
def test_other_turns_are_refused(messages: list[Any], rules: set[str]) -> None:
    found = {each.split()[0] for each in said(chain_of(messages)) if " error " in each}
    assert rules <= found
    fixed(chain_of(messages))


def test_a_blank_text_beside_a_call_is_a_warning_and_alone_an_error() -> None:
    blank = {"type": "text", "text": " "}
    assert said(chain_of([USER, assistant(blank, use("a")), user(used("a"))])) == ["text-blank warning 1"]
    assert said(chain_of([USER, assistant(blank), USER])) == ["text-blank error 1"]
    assert said(chain_of([user(blank, TEXT)])) == ["text-blank error 0"]


@pytest.mark.parametrize(
    ("model", "words", "expected"),
    [
        (OPUS, "The plan is ", ["last-role error 1"]),
        ("claude-sonnet-4-5", "The plan is ", ["trailing-space error 1"]),
        ("claude-sonnet-4-5", "The plan is", []),
        ("us.anthropic.claude-opus-4-6-v1:0", "The plan is", ["last-role error 1"]),
        ("", "The plan is ", ["last-role warning 1", "trailing-space warning 1"]),
    ],
)
def test_the_model_decides_whether_a_request_may_end_with_the_answer(model: str, words: str, expected: list[str]) -> None:
    chain = chain_of([USER, assistant({"type": "text", "text": words})], model)
    assert said(chain) == expected
    after = fixed(chain)["messages"]
    assert (after[-1]["role"] == "user") is ("last-role error 1" in expected)


def test_a_paused_turn_ends_with_the_assistant() -> None:
    assert said(chain_of([USER, assistant(TEXT, RUN)])) == []


def test_an_answer_alone_is_no_request() -> None:
    answer = {"id": "msg_1", "type": "message", "model": OPUS, "stop_reason": "end_turn", **assistant({"type": "text", "text": "ok "})}
    (chain,) = chainviz.load(json.dumps(answer).encode())
    assert said(chain) == []


@pytest.mark.parametrize(
    ("model", "messages", "expected"),
    [
        (OPUS, [system(), USER], ["system-first error 0"]),
        ("claude-haiku-4-5", [USER, assistant(TEXT), USER, system()], ["system-in-messages error 3"]),
        (OPUS, [USER, assistant(TEXT), USER, system()], []),
        (OPUS, [USER, assistant(use("a")), user(used("a")), system(), assistant(TEXT), USER], []),
        (OPUS, [USER, assistant(TEXT), system(), USER], ["system-place error 2"]),
        (OPUS, [USER, system(), USER], ["system-place error 1"]),
        ("", [USER, system(), assistant(TEXT), USER], ["system-in-messages warning 1"]),
    ],
)
def test_the_place_of_a_system_message(model: str, messages: list[Any], expected: list[str]) -> None:
    chain = chain_of(messages, model)
    assert said(chain) == expected
    fixed(chain)


def test_a_leading_system_message_moves_to_the_system_parameter() -> None:
    after = fixed(chain_of([system(), USER]))
    assert (after["system"], after["messages"]) == ("be brief", [USER])


def test_text_beside_a_programmatic_result_moves_to_the_start_of_the_turn() -> None:
    messages = [USER, assistant(RUN, use("a", **CODE)), user(used("a"), TEXT)]
    assert said(chain_of(messages)) == ["text-beside-result error 2"]
    after = fixed(chain_of(messages))["messages"]
    assert after[0]["content"] == [{"type": "text", "text": "hi"}, TEXT] and after[1:] == [messages[1], user(used("a"))]


@pytest.mark.parametrize(("tools", "count"), [(["docks"], 1), (["docks", "gone"], 0), (None, 0)])
def test_a_reference_to_a_tool_that_is_not_defined(tools: list[str] | None, count: int) -> None:
    reference = [{"type": "tool_reference", "tool_name": "gone"}, {"type": "tool_reference", "tool_name": "docks"}]
    messages = [USER, assistant(use("a")), user(used("a", reference))]
    members = {} if tools is None else {"tools": [{"name": name, "input_schema": {"type": "object"}} for name in tools]}
    chain = chain_of(messages, **members)
    assert [each for each in said(chain) if "reference" in each] == ["tool-reference-unknown error 2"] * count
    content = fixed(chain)["messages"][2]["content"][0]["content"]
    assert content[1] == reference[1] and (content[0] == reference[0]) is not count


def test_a_compaction_block_comes_first() -> None:
    block = {"type": "compaction", "content": "Docks are planned."}
    assert said(chain_of([USER, assistant(block, TEXT), USER])) == []
    late = chain_of([USER, assistant(TEXT, block), USER])
    assert said(late) == ["compaction-not-first error 1"]
    assert fixed(late)["messages"][1] == assistant(block, TEXT)


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("claude-opus-4-8", (4, 8)), ("anthropic/claude-sonnet-4.6", (4, 6)), ("claude-sonnet-4-20250514", (4, 0)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", (4, 5)), ("claude-3-5-sonnet-20241022", (3, 5)), ("claude-2.1", (2, 1)),
        ("claude-instant-1.2", (1, 2)), ("claude-fable-5", (5, 0)),
    ],
)  # fmt: skip
def test_versions_of_models(name: str, version: tuple[int, int]) -> None:
    model = claude_model(name)
    assert model is not None and model.version == version
    assert claude_model("gpt-5") is None and claude_model("claude-latest") is None


THOUGHT = {"type": "thinking", "thinking": "Four, I think.", "signature": "c2lnbmF0dXJl" * 20}
ENABLED = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


@pytest.mark.parametrize(
    ("around", "blocks", "expected"),
    [
        (ENABLED, [TEXT, use("toolu_1")], ["thinking-enabled warning 1"]),
        (ENABLED, [THOUGHT, use("toolu_1")], []),
        ({}, [TEXT, use("toolu_1")], []),
        ({"thinking": {"type": "adaptive"}}, [TEXT, use("toolu_1")], []),
    ],
)
def test_a_request_with_thinking_enabled_wants_it_in_its_last_turn(around: Any, blocks: list[Any], expected: list[str]) -> None:
    chain = chain_of([USER, assistant(*blocks), user(used("toolu_1"))], **around)
    assert said(chain) == expected
    assert said(chain_of([USER, assistant(*blocks), user(used("toolu_1")), assistant(TEXT), USER], **around)) == []
