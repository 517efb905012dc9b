"""Halves of characters in texts and in arguments: which APIs refuse them, and what the fix leaves."""

from __future__ import annotations

import json

import pytest

import chainviz
from chainviz.api.chain import Chain, document_of
from chainviz.core.chain.messages import FREE_FORM, Text, Thinking, ToolCall, ToolResult
from chainviz.core.chain.surrogates import has_escaped_surrogate, has_lone_surrogate, without_surrogates


@pytest.mark.parametrize(
    ("arguments", "whole"),
    [
        (r'{"a": "\ud83e"}', r'{"a": "\ufffd"}'),
        (r'{"a": "\uD83Eade9 x"}', r'{"a": "\ufffdade9 x"}'),
        (r'{"a": "\udd29\ud83e\udd29\ud83e"}', r'{"a": "\ufffd\ud83e\udd29\ufffd"}'),
        (r'{"a": "\\\ud83e"}', r'{"a": "\\\ufffd"}'),
        (r'{"a": "\ud83e\ud83e\udd29"}', r'{"a": "\ufffd\ud83e\udd29"}'),
        (r'{"a": "\ud83e\udd29"}', None),
        (r'{"a": "\\ud83e"}', None),
        (r'{"a": "\u00e9"}', None),
    ],
)
def test_escapes_in_arguments(arguments: str, whole: str | None) -> None:
    call = ToolCall("a", "docks", arguments)
    assert has_escaped_surrogate(call) == (whole is not None)
    assert without_surrogates(call).arguments == (whole or arguments)  # type: ignore[union-attr]


def test_free_form_arguments_have_no_escapes() -> None:
    call = ToolCall("a", "docks", r"print('\ud83e')", FREE_FORM)
    assert not has_escaped_surrogate(call) and without_surrogates(call) == call


@pytest.mark.parametrize(
    "part", [Text("a \ud83d"), ToolCall("a", "b", '{"a": "\ud83d"}'), ToolResult("a", "b", "\udfff"), Thinking("\ud83d")]
)
def test_halves_in_texts(part: Text | ToolCall | ToolResult | Thinking) -> None:
    assert has_lone_surrogate(part)
    assert not has_lone_surrogate(without_surrogates(part))


def test_signed_reasoning_stays() -> None:
    assert not has_lone_surrogate(Thinking("\ud83d", "signature"))


def chat(arguments: str) -> Chain:
    call = {"id": "call_1", "type": "function", "function": {"name": "docks", "arguments": arguments}}
    messages = [
        {"role": "user", "content": "Docks?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "4"},
    ]
    (chain,) = chainviz.load(json.dumps({"model": "gpt-5.6", "messages": messages}).encode())
    return chain


def rules(chain: Chain, provider: str) -> set[str]:
    return {problem.rule for problem in chain.problems(provider=provider) if problem.severity == "error" and problem.provider}


@pytest.mark.parametrize("provider", ["openai-chat", "deepseek", "anthropic"])
def test_half_in_arguments_is_refused(provider: str) -> None:
    chain = chat('{"dock": "\ud83d"}')
    assert "text-surrogate" in rules(chain, provider)
    fixed = chain.apply("repair", goal=provider).chain
    assert "text-surrogate" not in rules(fixed, provider)
    assert json.loads(b"".join(document_of([fixed])))["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"dock": "\ufffd"}'


def test_escape_inside_arguments_that_are_text_is_taken() -> None:
    assert rules(chat(r'{"dock": "\ud83d"}'), "openai-chat") == set()
    assert rules(chat(r'{"dock": "\ud83d"}'), "anthropic") == {"text-surrogate"}
