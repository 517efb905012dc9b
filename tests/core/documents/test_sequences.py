"""A logged request and its response are one chain, in either order, with the system text of the request."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, HUMAN, SYSTEM, Message, Text, text_of
from chainviz.core.documents.units import from_json, to_json
from chainviz.core.load import LoadedChain, load_file, restyle
from tests.core.formats.chains import exported

ASK, ANSWER = {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}
OPENAI = {
    "id": 7,
    "request": {"model": "m", "messages": [{"role": "system", "content": "S"}, ASK]},
    "response": {"choices": [{"index": 0, "message": ANSWER, "finish_reason": "stop"}], "usage": {}},
}
ANTHROPIC = {
    "request": {"system": "S", "messages": [ASK], "max_tokens": 5},
    "response": {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"},
}
GEMINI = {
    "request": {"systemInstruction": {"parts": [{"text": "S"}]}, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]},
    "response": {"candidates": [{"content": {"role": "model", "parts": [{"text": "hello"}]}}]},
}
RESPONSES = {
    "request": {"instructions": "S", "input": [{"role": "user", "content": "hi"}]},
    "response": {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}]},
}
CONVERSE = {
    "schemaType": "ModelInvocationLog",
    "input": {"inputBodyJson": {"system": [{"text": "S"}], "messages": [{"role": "user", "content": [{"text": "hi"}]}]}},
    "output": {"outputBodyJson": {"output": {"message": {"role": "assistant", "content": [{"text": "hello"}]}}, "usage": {}}},
}
INVOKE_MODEL = {
    "schemaType": "ModelInvocationLog",
    "input": {"inputBodyJson": ANTHROPIC["request"], "inputTokenCount": 3},
    "output": {"outputBodyJson": ANTHROPIC["response"], "outputTokenCount": 1},
}
VERTEX = {"api_method": "GenerateContent", "full_request": GEMINI["request"], "full_response": GEMINI["response"]}
LOGS = [
    ("openai_chat", OPENAI), ("anthropic", ANTHROPIC), ("gemini", GEMINI), ("openai_responses", RESPONSES),
    ("bedrock_converse", CONVERSE), ("anthropic", INVOKE_MODEL), ("gemini", VERTEX),
]  # fmt: skip


def only(value: Any, indent: int | None = None) -> tuple[bytes, LoadedChain]:
    content = json.dumps(value, indent=indent).encode()
    (chain,) = load_file(content)
    assert exported(content, chain) == content
    assert from_json(to_json(chain.envelope)) == chain.envelope
    return content, chain


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(("name", "log"), LOGS)
def test_request_and_response_are_one_chain(name: str, log: dict[str, Any], indent: int | None) -> None:
    _content, chain = only(log, indent)
    assert chain.format == name
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI]
    assert chain.messages[-1].parts == (Text("hello"),)


@pytest.mark.parametrize(("name", "log"), LOGS)
def test_an_edited_answer_changes_nothing_else(name: str, log: dict[str, Any]) -> None:
    content, chain = only(log)
    answer = replace(chain.messages[-1], parts=(replace(chain.messages[-1].parts[0], text="goodbye"),))
    changed = restyle(chain.messages, 2, answer, name, chain.envelope)
    assert exported(content, chain, (*chain.messages[:-1], changed)) == content.replace(b"hello", b"goodbye")


def test_the_response_may_stand_first() -> None:
    content, chain = only(dict(reversed(OPENAI.items())))
    assert [message.role for message in chain.messages] == [SYSTEM, HUMAN, AI]
    document = json.loads(exported(content, chain, (chain.messages[0], chain.messages[2])))
    assert [item["role"] for item in document["request"]["messages"]] == ["system"]
    assert document["response"]["choices"][0]["message"] == ANSWER


def test_a_system_text_beside_the_messages_is_edited_in_its_place() -> None:
    content, chain = only(ANTHROPIC)
    changed = restyle(chain.messages, 0, replace(chain.messages[0], parts=(Text("T", origin=0),)), "anthropic", chain.envelope)
    document = json.loads(exported(content, chain, (changed, *chain.messages[1:])))
    assert document == {**ANTHROPIC, "request": {**ANTHROPIC["request"], "system": "T"}}
    without = json.loads(exported(content, chain, chain.messages[1:]))
    assert without["request"]["system"] == ""


def test_a_log_of_requests_is_a_chain_a_line() -> None:
    lines = b"".join(json.dumps(OPENAI).encode() + b"\n" for _ in range(3))
    chains = load_file(lines)
    assert [len(chain.messages) for chain in chains] == [3, 3, 3]


def test_an_answer_of_many_is_a_chain_each() -> None:
    content = json.dumps({"choices": [{"message": ANSWER}, {"message": ANSWER}]}).encode()
    assert [len(chain.messages) for chain in load_file(content)] == [1, 1]


def test_a_new_message_joins_the_request() -> None:
    content, chain = only(OPENAI)
    new = restyle(chain.messages, 2, Message(HUMAN, (Text("more"),)), "openai_chat", chain.envelope)
    document = json.loads(exported(content, chain, (*chain.messages[:2], new, chain.messages[2])))
    assert [item["content"] for item in document["request"]["messages"]] == ["S", "hi", "more"]


@pytest.mark.parametrize("response", ["", "response"])
def test_each_of_several_answers_is_a_chain_with_its_request(response: str) -> None:
    choices = {"choices": [{"index": n, "message": {"role": "assistant", "content": f"answer {n}"}} for n in range(3)]}
    document = {"messages": [{"role": "user", "content": "Hello"}], **({response: choices} if response else choices)}
    content = json.dumps(document).encode()
    chains = load_file(content)
    assert [[text_of(each) for each in chain.messages] for chain in chains] == [["Hello", f"answer {n}"] for n in range(3)]
    assert len({chain.pointer for chain in chains}) == 3
    assert all(exported(content, chain) == content for chain in chains)
    first, last = chains[1].messages
    other = replace(last, parts=(replace(last.parts[0], text="other"),))
    changed = restyle(chains[1].messages, 1, other, chains[1].format, chains[1].envelope)
    assert exported(content, chains[1], (first, changed)) == content.replace(b"answer 1", b"other")


@pytest.mark.parametrize("messages", [[ASK, {**ANSWER, "tool_calls": None}], [ASK, {"x": [{"y": {}}], **ASK}, ANSWER]])
def test_an_answer_that_the_list_holds_too_counts_once(messages: list[Any]) -> None:
    choices = [{"index": 0, "message": ANSWER}, {"index": 1, "message": {"role": "assistant", "content": "good day"}}]
    content = json.dumps({"messages": messages, "response": {"choices": choices[:1]}}).encode()
    (chain,) = load_file(content)
    assert len(chain.messages) == len(messages)
    content = json.dumps({"messages": messages, "response": {"choices": choices}}, indent=1).encode()
    first, second = load_file(content)
    assert [text_of(chain.messages[-1]) for chain in (first, second)] == ["hello", "good day"]
    assert len(first.messages) == len(second.messages) == len(messages)
    assert exported(content, second) == content
    without_answer = json.loads(exported(content, second, second.messages[:-1]))
    assert without_answer["messages"] == messages, "the other answer stays where it is"
    assert [choice["message"] for choice in without_answer["response"]["choices"]] == [ANSWER, None]


def test_another_last_message_stays() -> None:
    content = json.dumps({"messages": [ASK, {**ANSWER, "content": "hello!"}], "response": {"choices": [{"message": ANSWER}]}}).encode()
    (chain,) = load_file(content)
    assert [text_of(message) for message in chain.messages] == ["hi", "hello!", "hello"]


@pytest.mark.parametrize(("request_at", "response_at"), [
    ("request_body", "response_body"), ("inputs", "output"), ("proxy_server_request", "response"),
])  # fmt: skip
def test_logs_of_gateways(request_at: str, response_at: str) -> None:
    value = {"id": "x", request_at: OPENAI["request"], response_at: OPENAI["response"]}
    assert [message.role for message in only(value)[1].messages] == [SYSTEM, HUMAN, AI]
