"""Rules that depend on the model: the recorded model decides, and without one they are warnings that say so."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.api.chain import Chain, document_of

CALL = {"id": "call_00_a", "type": "function", "function": {"name": "docks", "arguments": "{}"}}
CALLED = [
    {"role": "user", "content": "Docks?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_00_a", "content": "4"},
]
SYSTEM_LATE = [
    {"role": "system", "content": "Be terse."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello."},
    {"role": "system", "content": "Answer in blue."},
    {"role": "user", "content": "Colour?"},
]


def chain_of(messages: list[dict[str, Any]], **members: Any) -> Chain:
    (chain,) = chainviz.load(json.dumps({**members, "messages": messages}).encode())
    return chain


def severities(chain: Chain, provider: str, rule: str) -> list[str]:
    return [each.severity for each in chain.problems(provider=provider) if each.rule == rule]


@pytest.mark.parametrize(
    ("members", "found"),
    [
        ({"model": "deepseek-v4-pro"}, ["error"]),
        ({"model": "deepseek/deepseek-v4.1-flash"}, ["error"]),
        ({"model": "deepseek-reasoner"}, ["error"]),
        ({"model": "deepseek-v4-pro", "thinking": {"type": "disabled"}}, []),
        ({"model": "deepseek-chat"}, []),
        ({"model": "gpt-5.6"}, ["warning"]),
        ({}, ["warning"]),
    ],
)
def test_deepseek_wants_reasoning_beside_calls(members: dict[str, Any], found: list[str]) -> None:
    chain = chain_of(CALLED, **members)
    assert severities(chain, "deepseek", "reasoning-missing") == found


@pytest.mark.parametrize("reasoning", ["I count.", ""])
def test_reasoning_may_be_empty(reasoning: str) -> None:
    messages = [CALLED[0], CALLED[1] | {"reasoning_content": reasoning}, CALLED[2]]
    assert severities(chain_of(messages, model="deepseek-v4-pro"), "deepseek", "reasoning-missing") == []


def test_lost_reasoning_becomes_a_space() -> None:
    chain = chain_of(CALLED, model="deepseek-v4-pro")
    fixed = chain.apply("repair", goal="deepseek").chain
    messages = json.loads(b"".join(document_of([fixed])))["messages"]
    assert messages == [CALLED[0], CALLED[1] | {"reasoning_content": " "}, CALLED[2]]
    assert fixed.verdict("deepseek").state == "accepted"
    again = fixed.apply("repair", goal="deepseek").chain
    assert b"".join(document_of([again])) == b"".join(document_of([fixed]))


@pytest.mark.parametrize(
    ("provider", "model", "found"),
    [
        ("vllm", "Qwen3.8-27B", ["error"]),
        ("vllm", "Qwen/Qwen3.5-35B-A3B-FP8", ["error"]),
        ("vllm", "qwen3-32b", ["warning"]),
        ("vllm", "", ["warning"]),
        ("ollama", "qwen3.8:27b", ["error"]),
        ("ollama", "qwen3.6:27b", []),
    ],
)
def test_system_message_in_the_middle(provider: str, model: str, found: list[str]) -> None:
    assert severities(chain_of(SYSTEM_LATE, model=model), provider, "system-in-messages") == found


def test_late_system_message_joins_the_first() -> None:
    fixed = chain_of(SYSTEM_LATE, model="Qwen3.8-27B").apply("repair", goal="vllm").chain
    assert [message.role for message in fixed.messages] == ["system", "human", "ai", "human"]
    assert fixed.verdict("vllm").state == "accepted"


def test_roles_alternate_where_the_template_wants_it() -> None:
    twice = [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]
    assert severities(chain_of(twice, model="mixtral-8x7b"), "vllm", "roles-alternate") == ["error"]
    assert severities(chain_of(twice, model="gpt-oss-120b"), "vllm", "roles-alternate") == ["warning"]


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses"])
def test_empty_name_of_a_tool(provider: str) -> None:
    call = CALL | {"function": {"name": "", "arguments": "{}"}}
    chain = chain_of([CALLED[0], {"role": "assistant", "content": None, "tool_calls": [call]}, CALLED[2]], model="gpt-5.6")
    assert severities(chain, provider, "tool-name-empty") == ["error"]
    assert severities(chain.apply("repair", goal=provider).chain, provider, "tool-name-empty") == []
