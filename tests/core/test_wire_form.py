"""Verdicts judge the JSON that would be sent, where the chain is written in the provider's own form."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.chain.tree import parse
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.load import load_file
from chainviz.core.providers.check import check, verdict_of
from tests.core.claude_messages import assistant, user

PROVIDER_OF = {"openai_chat": "openai-chat", "anthropic": "anthropic"}
USER = {"role": "user", "content": "hi"}
CALL: dict[str, Any] = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
USE: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
USED = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}


def judged(format: str, messages: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """The provider's verdict, and rule, severity and path of each problem."""
    chain = load_file(json.dumps({"messages": messages}).encode(), format=format)[0]
    provider = next(each for each in PROVIDERS if each.name == PROVIDER_OF[format])
    problems = list(check(provider, parse(chain.messages), chain.format))
    return verdict_of(problems).state, [f"{each.rule} {each.severity} {each.path}" for each in problems]


def calling(**members: Any) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": [CALL], **members}


OPENAI: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "all is well": ([USER, calling(content=None), RESULT, {"role": "assistant", "content": "", "refusal": None}], []),
    "content is a number": ([{"role": "user", "content": 5}], ["content-type error s1.h.m0.c0"]),
    "content is missing": ([{"role": "user"}], ["content-missing error s1.h.m0"]),
    "content is null": ([{"role": "user", "content": None}], ["content-missing error s1.h.m0"]),
    "content is an empty list": ([{"role": "user", "content": []}], ["content-empty error s1.h.m0"]),
    "tool_calls is empty": ([USER, {"role": "assistant", "content": "x", "tool_calls": []}], ["tool-calls-empty error s1.p1.m0"]),
    "arguments are an object": (
        [USER, calling(tool_calls=[{**CALL, "function": {"name": "f", "arguments": {"a": 1}}}]), RESULT],
        ["arguments-type error s1.p1.m0.c0"],
    ),
    "a call has no id": (
        [USER, calling(tool_calls=[{"type": "function", "function": CALL["function"]}]), {**RESULT, "tool_call_id": "f"}],
        ["member-missing error s1.p1.m0.c0"],
    ),
    "a call has no type": (
        [USER, calling(tool_calls=[{"id": "c1", "function": CALL["function"]}]), RESULT], ["member-missing error s1.p1.m0.c0"],
    ),
    "a call has a type nobody knows": (
        [USER, calling(tool_calls=[{**CALL, "type": "weird"}]), RESULT], ["not-understood unchecked s1.p1.m0.c0"],
    ),
    "a part of another API": (
        [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": "x"}]}],
        ["part-type error s1.h.m0.c1"],
    ),
    "a part nobody knows": ([{"role": "user", "content": [{"type": "hologram"}]}], ["not-understood unchecked s1.h.m0.c0"]),
    "a field nobody knows": ([{**USER, "mood": "good"}], ["not-understood unchecked s1.h.m0"]),
    "a tool's content is null": ([USER, calling(), {**RESULT, "content": None}], ["content-missing error s1.p1.m1.c0"]),
    "a result names no call": (
        [USER, calling(), {"role": "tool", "name": "c1", "content": "x"}], ["member-missing error s1.p1.m1.c0"],
    ),
}  # fmt: skip


TEXT = {"type": "text", "text": "hi"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "s"}
ANTHROPIC: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "all is well": ([USER, assistant(THOUGHT, USE), USED, assistant(TEXT), USER], []),
    "content is a number": ([{"role": "user", "content": 5}], ["content-type error s1.h.m0"]),
    "content is missing": ([{"role": "user"}, assistant(TEXT), USER], ["content-missing error s1.h.m0"]),
    "content is an empty text": ([{"role": "user", "content": ""}], ["text-empty error s1.h.m0.c0"]),
    "input is missing": (
        [USER, assistant({"type": "tool_use", "id": "t1", "name": "f"}), USED], ["member-missing error s1.p1.m0.c0"],
    ),
    "a thinking block is last": (
        [USER, assistant(TEXT, THOUGHT), USER], ["thinking-last-block error s1.p1.m0.c1"],
    ),
    "a result in an assistant message": (
        [USER, assistant(TEXT, USED["content"][0]), USER], ["part-role error s1.p1.m0.c1"],  # type: ignore[index]
    ),
    "a call in a user message": ([user(TEXT, USE)], ["part-role error s1.h.m0.c1"]),
    "a part of another API": ([user({"type": "image_url", "image_url": {"url": "x"}})], ["part-type error s1.h.m0.c0"]),
    "a part nobody knows": ([user({"type": "hologram"})], ["not-understood unchecked s1.h.m0.c0"]),
    "a field nobody knows": ([{**USER, "mood": "good"}], ["not-understood unchecked s1.h.m0"]),
    "a number in a result": (
        [USER, assistant(USE), user({"type": "tool_result", "tool_use_id": "t1", "content": 5}, TEXT)],
        ["field-type error s1.p1.m1.c0"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("format", "cases"), [("openai_chat", OPENAI), ("anthropic", ANTHROPIC)])
def test_the_wire_form_is_judged(format: str, cases: dict[str, tuple[list[dict[str, Any]], list[str]]]) -> None:
    for name, (messages, expected) in cases.items():
        state, found = judged(format, messages)
        assert found == expected, name
        severities = {each.split()[1] for each in expected}
        assert state == ("rejected" if "error" in severities else "unchecked" if severities else "accepted"), name


def test_a_legacy_call_without_name_and_arguments_is_none() -> None:
    messages = [USER, {"role": "assistant", "content": "hi", "function_call": {"name": "", "arguments": ""}}]
    chain = load_file(json.dumps(messages).encode(), "openai_chat")[0]
    assert chain.messages[1].calls == ()
    assert judged("openai_chat", messages) == ("accepted", [])


@pytest.mark.parametrize("name", [{}, {"name": "f"}])
def test_an_added_result_has_a_name_where_its_neighbours_do(name: dict[str, str]) -> None:
    other = {**CALL, "id": "c2"}
    messages = [USER, calling(tool_calls=[CALL, other], content=None), {**RESULT, **name}]
    fixed = chainviz.load(json.dumps(messages).encode())[0].apply("repair").chain
    added = json.loads(fixed.messages[3].source[0].text)
    assert added["tool_call_id"] == "c2"
    assert ("name" in added) == bool(name)
