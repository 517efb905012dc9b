"""Converting: the content stays, what is lost is said, ids and reasoning are cleaned up when asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

import chainviz
from chainviz.core.chain.chain import MemoryChain, apply_splices
from chainviz.core.chain.messages import Image, Message, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.tree import parse
from chainviz.core.errors import OptionsError
from chainviz.core.formats import WRITTEN
from chainviz.core.load import load_file
from chainviz.core.operations.contract import Context, Outcome
from chainviz.core.operations.convert import Convert, ConvertOptions
from tests.core.strategies import chains

CHAIN = (
    Message("human", (Text("look"), Image("https://h/a.png", "high"))),
    Message("ai", (Thinking("hm", "sig"), ToolCall("abcDEF123", "search", "{}"))),
    Message("tool", (ToolResult("abcDEF123", "search", "no", is_error=True),)),
)


PLAIN = (Message("human", (Text("look"), Text("here"))), Message("ai", (ToolCall("abcDEF123", "search", "{}"),)), CHAIN[2])


def run(messages: tuple[Message, ...], **options: Any) -> tuple[tuple[Message, ...], Outcome]:
    outcome = Convert().run(MemoryChain(messages), ConvertOptions(**options), Context())
    return apply_splices(messages, outcome.changes), outcome


@given(chains)
def test_the_same_format_changes_nothing(chain: list[Message]) -> None:
    _, outcome = run(tuple(chain))
    assert (outcome.changes, outcome.target) == ((), None)


@pytest.mark.parametrize("name", [format.name for format in WRITTEN])
def test_another_format_is_the_target_and_the_content_stays(name: str) -> None:
    new, outcome = run(PLAIN, to=name)
    assert outcome.target is not None and outcome.target.name == name
    assert new == PLAIN
    assert all(not message.source and part.origin == -1 for message in new for part in message.parts)


def test_what_is_lost_is_said_once_with_its_place() -> None:
    _, outcome = run((*CHAIN, *CHAIN), to="anthropic")
    assert any("2 messages, the first at s1.h.m0" in warning for warning in outcome.warnings)
    assert len(set(outcome.warnings)) == len(outcome.warnings)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(OptionsError, match="fax"):
        run(CHAIN, to="fax")


def test_new_ids_follow_the_template_and_keep_calls_and_results_together() -> None:
    new, outcome = run(CHAIN, tool_call_id_template="toolu_{r:24:b}")
    (call,), (result,) = new[1].calls, new[2].results
    assert call.id == result.id
    assert call.id.startswith("toolu_")
    assert [row.path for row in outcome.report] == ["s1.p1.m0", "s1.p1.m1"]
    assert [splice.start for splice in outcome.changes] == [1, 2]


@given(chains)
def test_new_ids_leave_as_many_calls_answered(chain: list[Message]) -> None:
    new, _ = run(tuple(chain), tool_call_id_template="call_{r:24:x}")

    assert len(new) == len(chain)
    for (_, before), (_, after) in zip(parse(chain).pairs(), parse(new).pairs(), strict=True):
        # where two calls share an id, one result may answer both; it answers the first once their ids differ
        ids = [call.id for call in before.ai.calls] if before.ai else []
        assert after.is_valid or not before.is_valid or len(set(ids)) < len(ids)


def test_reasoning_is_dropped_when_asked() -> None:
    new, _ = run(CHAIN, drop_reasoning=True)
    assert new[1].parts == (ToolCall("abcDEF123", "search", "{}"),)


def test_a_loaded_chain_keeps_nothing_of_its_old_source() -> None:
    (loaded,) = load_file(b'[{"role":"developer","content":"be brief","x":1},{"role":"user","content":"hi"}]')
    new, _ = run(loaded.messages, to="neutral")
    assert [(message.label, message.source) for message in new] == [("", ()), ("", ())]


def ids_in(messages: tuple[Message, ...]) -> list[str]:
    return [part.id if isinstance(part, ToolCall) else part.call_id for m in messages for part in m.parts
            if isinstance(part, ToolCall | ToolResult)]  # fmt: skip


REUSED = (
    Message("human", (Text("look"),)),
    Message("ai", (ToolCall("a b", "search", "{}"),)),
    Message("tool", (ToolResult("a b", "search", "one"),)),
    Message("ai", (ToolCall("a b", "read", "{}"), ToolCall("kept", "read", "{}"))),
    Message("tool", (ToolResult("kept", "read", "two"), ToolResult("a b", "read", "three"))),
)


def test_ids_that_the_target_refuses_become_new_ones_pair_by_pair() -> None:
    new, outcome = run(REUSED, to="anthropic")
    first, first_result, second, kept, kept_result, second_result = ids_in(new)
    assert (first, second, kept) == (first_result, second_result, "kept") and kept == kept_result
    assert first != second and first.startswith("toolu_")
    assert "2 call ids become new ones, with their results." in outcome.warnings
    assert ids_in(run(REUSED, to="anthropic")[0]) == ids_in(new)
    assert ids_in(run(REUSED, to="openai_chat")[0]) == ids_in(REUSED)


def test_a_provider_switch_follows_its_template_and_drops_reasoning() -> None:
    new, outcome = run(CHAIN, provider="bedrock")
    assert new[1].parts == (ToolCall(ids_in(new)[0], "search", "{}"),) and ids_in(new)[0].startswith("tooluse_")
    assert outcome.target is None and [row.path for row in outcome.report] == ["s1.p1.m0", "s1.p1.m1"]
    with pytest.raises(OptionsError, match="no provider"):
        ConvertOptions(provider="nobody")


def test_fields_that_no_part_holds_are_named() -> None:
    content = b"""{"model": "m-1", "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": "yes", "metadata": {"trace": 7}}]}"""
    chain = chainviz.load(content)[0]
    told = " ".join(chain.convert("bedrock_converse").warnings)
    assert "Left out of messages: cache marks, metadata." in told
    assert "model: the model m-1 is left out; choose one for Bedrock Converse." in told
    plain = chainviz.load(b'[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]')[0]
    assert plain.convert("bedrock_converse").warnings == ()


def test_fields_of_one_chain_among_others_of_a_file_are_named() -> None:
    runs = [{"model": "a", "messages": [{"role": "user", "content": "hi"}]}, {"reward": 1, "messages": [{"role": "user", "content": "ho"}]}]
    first, second = chainviz.load(json.dumps({"runs": runs, "version": 2}).encode())
    assert first.convert("neutral").warnings == ("Fields beside the messages are left out: model.",)
    assert second.convert("neutral").warnings == ("Fields beside the messages are left out: reward.",)


NAMED = {
    "gemini": ('"functionResponse":', "name"), "gemini_interactions": ('"function_result",', "name"),
    "vercel_model": ('"tool-result",', "toolName"), "pydantic_ai": ('"part_kind": "tool-return"', "tool_name"),
    "ollama": ('"role": "tool"', "tool_name"), "langchain": ('"type": "tool"', "name"), "pi_session": ('"toolResult"', "toolName"),
    "inspect": ('"role": "tool"', "function"), "openhands": ('"tool_call_metadata"', "function_name"),
}  # fmt: skip


@pytest.mark.parametrize("to", NAMED)
def test_a_result_gets_the_name_of_its_call(to: str) -> None:
    """Ids repeat: the last call before the result counts. The second result answers no call, and stays without a name."""
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "old", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "docks", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]},
    ]
    (chain,) = chainviz.load(messages, "anthropic")
    written = chain.convert(to).chain.to_bytes()
    (again,) = chainviz.load(written, to)
    assert [result.name for message in again for result in message.parts if isinstance(result, ToolResult)] == ["old", "docks"]
    assert NAMED[to][0].encode() in written
    assert f'"{NAMED[to][1]}": "docks"'.encode() in written
