"""States of Anthropic: messages in its dialect, where one user message may hold tool results and text."""

from __future__ import annotations

import json
from typing import Any

from chainviz.core.load import load_file
from chainviz.core.operations.compact import REFERENCE, Strategy, parse_strategy
from chainviz.core.state.call import CallRules, Reply, ToolFailed, add_event, next_state
from chainviz.core.state.document import State, dialect_of, read_raw, write_state
from chainviz.core.state.faults import Fault, read_state

RULES = CallRules(provider="anthropic")
CALL = {
    "role": "assistant",
    "content": [
        {"type": "tool_use", "id": "t1", "name": "lookup", "input": {"q": 1}},
        {"type": "tool_use", "id": "t2", "name": "broken", "input": {}},
        {"type": "tool_use", "id": "t3", "name": "absent", "input": {}},
    ],
}


def broken(arguments: str) -> str:
    raise ToolFailed("disk on fire")


def user(text: str) -> str:
    return json.dumps({"role": "user", "content": text})


def assistant(text: str) -> str:
    return json.dumps({"role": "assistant", "content": [{"type": "text", "text": text}]})


def result(id: str, *texts: str) -> str:
    blocks: list[Any] = [{"type": "tool_result", "tool_use_id": id, "content": "found"}]
    return json.dumps({"role": "user", "content": [*blocks, *({"type": "text", "text": text} for text in texts)]})


def test_a_tool_round_is_sent_and_stored_in_its_dialect() -> None:
    replies = [Reply(json.dumps(CALL), "tool_use"), Reply(assistant("done"), "end_turn")]
    tools = {"lookup": lambda arguments: f"asked {arguments}", "broken": broken}
    sent, state, events = next_state(None, [user("hi")], replies, tools, rules=RULES)
    assert state is not None
    results = json.loads(state.messages[2])
    assert results["role"] == "user"
    assert [(block["type"], block["tool_use_id"], block["content"]) for block in results["content"]] == [
        ("tool_result", "t1", 'asked {"q": 1}'),
        ("tool_result", "t2", "Error: disk on fire"),
        ("tool_result", "t3", "Error: tool not found"),
    ]
    assert [len(request) for request in sent] == [1, 3]
    assert (state.provider, state.processed_length, len(state.messages)) == ("anthropic", 4, 4)
    assert events == ("tool_execution_error",)


def test_tool_results_are_no_boundary() -> None:
    """Both are `user` messages; a state that began with results would be refused by the API."""
    dialect = dialect_of("anthropic")
    roles = [read_raw(text, dialect).role for text in (user("a"), assistant("b"), result("t"), result("t", "and now?"))]
    assert roles == ["human", "ai", "tool", "tool"]
    call = json.dumps({"role": "assistant", "content": [CALL["content"][0]]})  # type: ignore[index]
    state = State("anthropic", (user("a"), call, result("t1", "more"), assistant("c")), 4)
    strategy = Strategy(parse_strategy({"type": "message_limit", "max_messages": 4}), REFERENCE)
    _, compacted, events = next_state(state, [user("d")], [Reply(assistant("e"), "end_turn")], {}, strategy, rules=RULES)
    assert compacted is not None
    assert compacted.messages == (user("d"), assistant("e"))
    assert events == ("conversation_compacted",)


def test_an_event_takes_the_dialect_of_the_state() -> None:
    state = add_event(State("anthropic", (assistant("a"),), 1), "checked in")
    assert json.loads(state.messages[-1]) == {"role": "user", "content": [{"type": "text", "text": "checked in"}]}
    assert read_raw(state.messages[-1], dialect_of("anthropic")).role == "human"


def test_the_document_is_locked_to_its_provider_and_opens_in_its_dialect() -> None:
    state = State("anthropic", (user("a"), json.dumps(CALL), result("t1", "thanks")), 3)
    content = write_state(state)
    assert read_state(content, "anthropic").opened() == state == read_state(content).opened()
    problem = read_state(content, "openai").problem
    assert problem is not None and problem.fault is Fault.PROVIDER_MISMATCH
    (chain,) = load_file(content)
    assert chain.format == "goaitools_state_anthropic"
    assert [message.role for message in chain.messages] == ["human", "ai", "tool", "human"]


def test_messages_that_are_not_its_providers_are_read_as_openais() -> None:
    value = {"version": 1, "provider": "anthropic", "processed_length": 1,
             "messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]}  # fmt: skip
    (chain,) = load_file(json.dumps(value).encode())
    assert chain.format == "goaitools_state"
    assert chain.messages[0].results[0].id == "c"
