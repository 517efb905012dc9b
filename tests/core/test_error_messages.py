"""Pasted messages of APIs: recognised, found in the chain, and with a fix that ends the error."""

from __future__ import annotations

import json

import pytest

from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Message, Text, Thinking
from chainviz.core.chain.parse import parse
from chainviz.core.load import load_file
from chainviz.core.operations.contract import Context
from chainviz.core.operations.execute import execute
from chainviz.core.operations.repair import RepairOptions, repaired
from chainviz.core.providers.check import check
from chainviz.core.providers.error_messages import read_error
from chainviz.core.providers.locate_error import locate_error
from tests.core.pictures import ai, call, h, result, tool
from tests.core.test_provider_errors import GIF, SEARCHED, THOUGHT

LONG_CHAIN = [h(), ai(call("a0")), tool("a0"), ai("x")]

PASTED: dict[str, tuple[str, list[Message], str, str]] = {
    "A1": (
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_2. Each `tool_use` block "
        "must have a corresponding `tool_result` block in the next message.",
        [h(), ai(call("toolu_1"), call("toolu_2")), tool("toolu_1"), h("go on")], "s1.p1.m0.c1", "answer-call",
    ),
    "A2": (
        "messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_9. Each `tool_result` block must have "
        "a corresponding `tool_use` block in the previous message.",
        [h(), tool("toolu_8"), ai("x"), h(), tool("toolu_9")], "s2.p1.m1.c0", "result-to-text",
    ),
    "A3": (
        "messages.1.content.1: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each must have a "
        "corresponding `server_tool_use` block before it.",
        [h(), ai("x", SEARCHED)], "s1.p1.m0.c1", "server-result-to-text",
    ),
    "A4": (
        "messages.3.content.0: `tool_use` ids must be unique", [h(), ai(call("a")), tool("a"), ai(call("a")), tool("a"), ai("x")],
        "s1.p2.m0.c0", "rename-calls",
    ),
    "A4 results": (
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
        [h(), ai(call("a")), tool("a"), tool("a"), ai("x")], "s1.p1.m2.c0", "drop-copy",
    ),
    "A5": (
        'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row', [h(), h(), ai("x")],
        "s1.h.m1", "merge-human",
    ),
    "A6": (
        "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a "
        "final `assistant` message must start with a thinking block",
        [h(), ai(THOUGHT, call("a")), tool("a"), ai(call("b")), tool("b")], "s1.p2.m0", "drop-thinking",
    ),
    "A7": (
        "messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        [h(), ai(Thinking("", "sig"), "x"), h()], "s1.p1.m0.c0", "drop-thinking",
    ),
    "A8": (
        "messages.1: When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`",
        [h(), ai(THOUGHT, "x")], "s1.p1.m0", "drop-thinking",
    ),
    "A9": ("messages: text content blocks must be non-empty", [h(), ai("", call("a")), tool("a")], "s1.p1.m0.c0", "drop-empty"),
    "A10": (
        "messages.0.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels",
        [Message("human", (Text("look"), GIF)), ai("x")], "s1.h.m0.c1", "image-to-text",
    ),
    "O1": (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
        "tool_call_ids did not have response messages: call_b",
        [h(), ai(call("call_a"), call("call_b")), tool("call_a")], "s1.p1.m0.c1", "answer-call",
    ),
    "O2": (
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        [h(), ai("x"), tool("a")], "s1.p1.m1.c0", "result-to-text",
    ),
    "O3": ("No tool output found for function call call_b.", [*LONG_CHAIN, h(), ai(call("call_b"))], "s2.p1.m0.c0", "answer-call"),
    "O4": (
        "No tool call found for function call output with call_id call_z.", [h(), ai(call("a")), tool("a", "call_z")],
        "s1.p1.m1.c1", "add-call",
    ),
    "O8": (
        "litellm.BadRequestError: function.arguments must be a valid JSON object string",
        [h(), ai(call("a", arguments='{"q": "x')), tool("a")],
        "s1.p1.m0.c0", "mend-arguments",
    ),
    "G1": (
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function "
        "call turn.",
        [h(), ai(call("a"), call("b")), tool("a"), h()], "s1.p1.m0.c1", "answer-call",
    ),
    "G2": (
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        [ai(call("a")), tool("a"), ai("x")], "s1.p1.m0", "insert-opening",
    ),
    "G3": (
        "Function call is missing a thought_signature in functionCall parts. Function call `default_api:f` , position 2.",
        [h(), ai(call("a")), tool("a")], "s1.p1.m0.c0", "sign-calls",
    ),
    "D1": (
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        [h(), ai(Thinking("hm"), call("a")), tool("a"), ai(call("b")), tool("b")], "s1.p2.m0", "drop-thinking",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PASTED)
def test_a_pasted_message_leads_to_its_node_and_a_fix(name: str) -> None:
    text, chain, path, fix = PASTED[name]
    located = locate_error(read_error(text), chain)
    assert str(located.path) == path
    assert fix in located.fixes
    rule = located.problems[0].rule
    assert located.provider is not None
    after = repaired(chain, RepairOptions(only=(fix,)))
    assert rule not in [problem.rule for problem in check(located.provider, parse(after))]


def test_the_message_is_taken_out_of_what_is_around_it() -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "messages.4: `tool_use` ids must be unique"}}
    error = read_error(f"2026-09-01 ERROR anthropic.BadRequestError: Error code: 400 - {json.dumps(body)} at 0x7f")
    assert error.text == "messages.4: `tool_use` ids must be unique"
    assert (error.message, error.part) == (4, None)


def test_an_index_counts_the_messages_of_the_request() -> None:
    """The top-level system message is none of them, and one message of the user gives a result and a text."""
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}, {"type": "text", "text": "and"}]},
        {"role": "assistant", "content": "ok"},
    ]
    chain = load_file(json.dumps({"system": "s", "messages": messages}).encode(), "anthropic")[0]
    located = locate_error(read_error("messages.3.content.0: something new is wrong"), chain.messages, chain.format)
    assert (located.provider, located.problems, str(located.path)) == (None, (), "s2.p1.m0")


@pytest.mark.parametrize("text", ["", "x", "{", '{"error": 5}', "messages.99: ?", "\ud83d" * 9, "[" * 5000])
def test_any_text_is_read(text: str) -> None:
    located = locate_error(read_error(text), [h(), ai(result("a"))])
    assert located.problems == () and located.path is None


@pytest.mark.parametrize("name", PASTED)
def test_a_repair_with_the_provider_as_its_goal_ends_its_errors(name: str) -> None:
    text, chain, _, _ = PASTED[name]
    provider = locate_error(read_error(text), chain).provider
    assert provider is not None
    after = repaired_for(chain, provider.name)
    assert [each for each in check(provider, parse(after)) if each.severity == "error"] == []


def repaired_for(chain: list[Message], goal: str) -> tuple[Message, ...]:
    before = MemoryChain(tuple(chain))
    outcome = execute("repair", {"goal": goal}, before, Context())
    return apply_splices(chain, outcome.changes)
