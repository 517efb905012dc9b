"""Accents of real transcripts: tau2's flat calls and calling users, legacy function calls, containers, our own form."""

from __future__ import annotations

import json
from dataclasses import replace

from chainviz.core.chain.messages import AI, HUMAN, TOOL, Message, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.problems import tree_problems
from chainviz.core.chain.tree import parse
from chainviz.core.formats import get_format
from chainviz.core.formats.conversion import moved
from chainviz.core.formats.cross_provider import Route
from chainviz.core.load import document_in, load_file, restyle
from tests.core.formats.chains import exported
from tests.shared_folder import CASES, shared

TAU2 = json.dumps([
    {"role": "assistant", "content": "Hi", "tool_calls": None, "cost": 0.0},
    {"role": "user", "content": None, "tool_calls": [
        {"id": "u1", "name": "toggle", "arguments": {"on": True}, "requestor": "user"}]},
    {"id": "u1", "role": "tool", "content": "on", "requestor": "user", "error": False},
    {"role": "assistant", "content": "", "tool_calls": [
        {"id": "a1", "name": "look", "arguments": {"n": 1.50}, "requestor": "assistant"}]},
    {"id": "a1", "role": "tool", "content": "no such", "requestor": "assistant", "error": True},
    {"role": "exit", "content": "done"},
])  # fmt: skip


def test_calls_of_the_user_are_shown_and_match_nothing() -> None:
    (chain,) = load_file(TAU2.encode())
    assert [message.role for message in chain.messages] == [AI, HUMAN, HUMAN, AI, TOOL, "exit"]
    assert chain.messages[1].parts == (ToolCall("u1", "toggle", '{"on": true}'),)
    assert chain.messages[2].parts == (ToolResult("u1", "", "on"),)
    assert "double-human" not in [problem.rule for problem in tree_problems(parse(chain.messages))]
    assert chain.messages[2].label == "tool"
    call, result = chain.messages[3].parts[0], chain.messages[4].parts[0]
    assert call == ToolCall("a1", "look", '{"n": 1.5}')
    assert result == ToolResult("a1", "", "no such", is_error=True)
    assert not chain.messages[1].calls
    assert not chain.messages[2].results


def test_an_edit_of_the_users_result_changes_one_leaf() -> None:
    (chain,) = load_file(TAU2.encode())
    result = chain.messages[2].parts[0]
    assert isinstance(result, ToolResult)
    new = replace(chain.messages[2], parts=(replace(result, content="off"),))
    changed = restyle(chain.messages, 2, new, "openai_chat", chain.envelope)
    (unit,) = changed.source
    assert json.loads(unit.text) == {"id": "u1", "role": "tool", "content": "off", "requestor": "user", "error": False}
    assert changed == new


def test_a_user_who_calls_tools_keeps_that_where_the_format_can() -> None:
    (chain,) = load_file(TAU2.encode())
    there = [one for message in chain.messages for one in moved(Route(None, get_format("anthropic")), message)]
    assert [part for message in there[1:3] for part in message.parts] == [Text('[calls toggle {"on": true}]'), Text("on")]
    (again,) = load_file(b"".join(document_in(get_format("openai_chat"), chain.messages, get_format("openai_chat"))))
    assert [message.parts for message in again.messages[1:3]] == [message.parts for message in chain.messages[1:3]]


def test_new_calls_take_the_shape_of_the_neighbourhood() -> None:
    (chain,) = load_file(TAU2.encode())
    new = Message(AI, (ToolCall("n", "go", '{"a": 1}'),))
    styled = restyle(chain.messages, 4, new, "openai_chat", chain.envelope)
    (call,) = json.loads(styled.source[0].text)["tool_calls"]
    assert call == {"id": "n", "name": "go", "arguments": {"a": 1}}
    answer = restyle(chain.messages, 5, Message(TOOL, (ToolResult("n", "", "ok"),)), "openai_chat", chain.envelope)
    assert json.loads(answer.source[0].text) == {"role": "tool", "id": "n", "content": "ok"}


def test_legacy_calls_are_matched_by_name_and_get_no_id() -> None:
    content = json.dumps([
        {"role": "user", "content": "1+1?"},
        {"role": "assistant", "content": None, "function_call": {"name": "calc", "arguments": "{ }"}},
        {"role": "function", "name": "calc", "content": "2"},
    ]).encode()  # fmt: skip
    (chain,) = load_file(content)
    assert chain.messages[1].calls[0].id == chain.messages[2].results[0].id == "calc"
    call = chain.messages[1].parts[0]
    assert isinstance(call, ToolCall)
    changed = restyle(chain.messages, 1, replace(chain.messages[1], parts=(replace(call, id="x"),)), "openai_chat", chain.envelope)
    assert exported(content, chain, (chain.messages[0], changed, chain.messages[2])) == content


def test_reasoning_goes_with_all_its_copies() -> None:
    content = json.dumps([{"role": "user", "content": "q"}, {
        "role": "assistant", "content": "a", "reasoning_content": "secret", "x": 1,
        "thinking_blocks": [{"type": "thinking", "thinking": "secret"}], "reasoning_details": [{"text": "secret"}],
    }]).encode()  # fmt: skip
    (chain,) = load_file(content)
    assert chain.messages[1].parts == (Thinking("secret"), Text("a"))
    bare = restyle(chain.messages, 1, replace(chain.messages[1], parts=chain.messages[1].parts[1:]), "openai_chat", chain.envelope)
    assert json.loads(bare.source[0].text) == {"role": "assistant", "content": "a", "x": 1}


def test_parts_of_a_merged_message_keep_their_own_elements() -> None:
    content = json.dumps([
        {"role": "user", "content": [{"type": "text", "text": "one", "mark": 1}]},
        {"role": "user", "content": [{"type": "text", "text": "two", "mark": 2}]},
    ]).encode()  # fmt: skip
    (chain,) = load_file(content)
    first, second = chain.messages
    merged = restyle(chain.messages, 0, replace(first, parts=first.parts + second.parts), "openai_chat", chain.envelope)
    (unit,) = json.loads(exported(content, chain, (merged,)))
    assert unit["content"] == [{"type": "text", "text": "one", "mark": 1}, {"type": "text", "text": "two"}]


def test_a_container_offers_its_chains() -> None:
    chains = load_file(shared("transcripts", "tau2-bench", "airline__container.json"))
    assert len(chains) == 50
    assert chains[3].pointer == ("simulations", 3, "messages")
    assert chains[3].title.startswith("simulations[3]")


def test_the_reference_cases_are_chains_in_our_own_form() -> None:
    path = CASES / "chain_ast.jsonl"
    chains = [chain for chain in load_file(path) if chain.pointer[1:] == ("request", "messages")]
    assert {chain.format for chain in chains} == {"neutral"}
    lines = [json.loads(line)["request"]["messages"] for line in path.read_text().splitlines()]
    expected = [messages for messages in lines if messages]
    assert [len(chain.messages) for chain in chains] == [len(messages) for messages in expected]
    for chain, messages in zip(chains, expected, strict=True):
        anew = [restyle((), 0, replace(m, source=()), "neutral", chain.envelope) for m in chain.messages]
        for message, wanted in zip(anew, messages, strict=True):
            assert json.loads(message.source[0].text) == _plainly(wanted)


ALWAYS = {
    "text": ("text",), "binary": ("mime", "data_b64"), "image_url": ("url",), "tool_call": ("id", "name", "arguments"),
    "tool_response": ("tool_call_id", "name", "content"),
}  # fmt: skip


def _plainly(message: dict[str, object]) -> dict[str, object]:
    """Drop what need not be written: the usual type of a call, and empty members."""
    parts = []
    for part in message.get("parts") or ():  # type: ignore[attr-defined]
        kept = {key: value for key, value in part.items() if (key, value) != ("call_type", "function")}
        parts.append({**dict.fromkeys(ALWAYS.get(kept["type"], ()) if not kept.get("no_function") else (), ""), **kept})
    return {"role": message["role"], "parts": parts}
