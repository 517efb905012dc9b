"""Each API's form of requests: what it reads it writes again, and what it cannot write it names."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainviz.core.formats import WRITTEN
from chainviz.core.formats.requests.form import RequestForm
from chainviz.core.formats.requests.settings import EFFORTS, Members, Reasoning, RequestSettings, ResponseFormat, Tool, ToolChoice
from tests.examples import examples

FORMS: dict[str, RequestForm] = {format.name: format.request for format in WRITTEN if format.request is not None}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
STRICT = {**CITY, "additionalProperties": False}
FUNCTION = {"name": "weather", "description": "Tells the weather.", "parameters": CITY}
FULL: dict[str, dict[str, Any]] = {
    "openai_chat": {
        "model": "m", "max_completion_tokens": 9, "temperature": 1.5, "top_p": 0.9, "seed": 7, "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "stop": ["END"], "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "description": "b", "schema": STRICT, "strict": True}},
        "tools": [
            {"type": "function", "function": {**FUNCTION, "parameters": STRICT, "strict": True}},
            {"type": "custom", "custom": {"name": "sql", "description": "Runs SQL.", "format": {"type": "text"}}},
        ],
        "tool_choice": {"type": "function", "function": {"name": "weather"}}, "parallel_tool_calls": False,
    },
    "openai_responses": {
        "model": "m", "max_output_tokens": 99, "temperature": 1.5, "top_p": 0.9, "reasoning": {"effort": "high"},
        "text": {"format": {"type": "json_schema", "name": "a", "schema": STRICT, "strict": True}},
        "tools": [
            {"type": "function", **FUNCTION, "strict": False},
            {"type": "custom", "name": "sql", "format": {"type": "grammar", "syntax": "lark", "definition": "x"}},
        ],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]},
        "parallel_tool_calls": True,
    },
    "anthropic": {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "stop_sequences": ["END"],
        "output_config": {"format": {"type": "json_schema", "schema": STRICT}},
        "tools": [{"name": "weather", "description": "Tells the weather.", "input_schema": CITY, "strict": True}],
        "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
    },
    "gemini": {
        "generationConfig": {
            "maxOutputTokens": 9, "temperature": 1.5, "topP": 0.9, "topK": 3, "seed": 7, "presencePenalty": 0.1,
            "frequencyPenalty": 0.2, "stopSequences": ["END"], "thinkingConfig": {"thinkingBudget": 512},
            "responseMimeType": "application/json", "responseJsonSchema": STRICT,
        },
        "tools": [{"functionDeclarations": [FUNCTION, {"name": "now"}, {"name": "find", "parametersJsonSchema": STRICT}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["weather", "now"]}},
    },
    "gemini_interactions": {
        "model": "m",
        "generation_config": {
            "max_output_tokens": 9, "temperature": 1.5, "top_p": 0.9, "seed": 7, "stop_sequences": ["END"], "thinking_level": "high",
            "tool_choice": {"allowed_tools": {"mode": "any", "tools": ["weather"]}},
        },
        "response_format": {"type": "text", "mime_type": "application/json", "schema": STRICT},
        "tools": [{"type": "function", **FUNCTION}],
    },
    "bedrock_converse": {
        "modelId": "m", "inferenceConfig": {"maxTokens": 9, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
        "outputConfig": {
            "effort": "high",
            "textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"name": "a", "schema": json.dumps(STRICT)}}},
        },
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "weather", "description": "Tells the weather.", "inputSchema": {"json": CITY}}}],
            "toolChoice": {"tool": {"name": "weather"}},
        },
    },
    "mistral": {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "random_seed": 7, "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "stop": ["END"], "reasoning_effort": "high", "response_format": {"type": "json_object"},
        "tools": [{"type": "function", "function": {**FUNCTION, "strict": True}}], "tool_choice": "required",
        "parallel_tool_calls": False,
    },
    "cohere": {
        "model": "m", "max_tokens": 9, "temperature": 0.5, "p": 0.9, "k": 3, "seed": 7, "presence_penalty": 0.1,
        "frequency_penalty": 0.2, "stop_sequences": ["END"], "thinking": {"type": "enabled", "token_budget": 300},
        "tools": [{"type": "function", "function": FUNCTION}], "strict_tools": True, "tool_choice": "REQUIRED",
    },
    "ollama": {
        "model": "m", "format": STRICT, "think": "high", "tools": [{"type": "function", "function": FUNCTION}],
        "options": {
            "num_predict": 9, "temperature": 0.5, "top_p": 0.9, "top_k": 3, "seed": 7, "presence_penalty": 0.1,
            "frequency_penalty": 0.2, "stop": ["END"],
        },
    },
    "hf_chat": {"tools": [{"type": "function", "function": FUNCTION}]},
}  # fmt: skip


def read(form: RequestForm, members: dict[str, Any]) -> RequestSettings:
    """The settings, once everything was taken: nothing is left of the request."""
    request = json.loads(json.dumps(members))
    found = form.read(Members(request))
    assert found.left_out == ()
    return found.settings


@pytest.mark.parametrize("name", FORMS)
def test_a_request_that_is_read_is_written_again(name: str) -> None:
    new = FORMS[name].write(read(FORMS[name], FULL[name]))
    assert (new.members, new.changes) == (FULL[name], [])


@pytest.mark.parametrize("source", FORMS)
@pytest.mark.parametrize("target", FORMS)
def test_what_another_api_does_not_take_is_named_with_its_place(source: str, target: str) -> None:
    settings = read(FORMS[source], FULL[source])
    new = FORMS[target].write(settings)
    if new.members:
        assert_same_or_named(settings, read(FORMS[target], new.members), [change.place for change in new.changes])


def assert_same_or_named(old: RequestSettings, new: RequestSettings, places: list[str]) -> None:
    """Each setting comes back, or its place is among those that were changed or left out."""
    for each in fields(RequestSettings):
        before, after = getattr(old, each.name), getattr(new, each.name)
        if each.name in ("family", "places") or before in (None, "", ()):
            continue
        if each.name == "tools":
            assert_same_tools(before, after, places)
        elif each.name == "response_format":
            assert (after and after.schema) == before.schema or old.places.get(each.name, each.name) in places
        elif each.name == "reasoning" and (before == Reasoning() or (is_off(before) and is_off(after))):
            continue  # what the model decides itself needs no word, and no tokens are no reasoning
        elif each.name == "parallel_calls" and before:
            continue  # the usual way of every API
        elif before != after:
            assert old.places.get(each.name, each.name) in places


def is_off(reasoning: Reasoning | None) -> bool:
    return reasoning in (Reasoning("none"), Reasoning(budget=0))


def assert_same_tools(before: tuple[Tool, ...], after: tuple[Tool, ...], places: list[str]) -> None:
    assert [tool.name for tool in after] == [tool.name for tool in before]
    for one, other in zip(before, after, strict=True):
        assert other.description == one.description
        if one.grammar is not None:
            assert other.grammar == one.grammar or one.place in places
        else:
            assert (other.schema or {"type": "object", "properties": {}}) == (one.schema or {"type": "object", "properties": {}})
            assert bool(other.strict) == bool(one.strict) or f"{one.place}.strict" in places


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
schemas = st.sampled_from([None, CITY, STRICT, {"type": "object", "properties": {"x": {"type": ["string", "null"]}}}])
tools = st.lists(
    st.builds(
        Tool, st.sampled_from("abcd"), st.just("") | texts, schemas, st.sampled_from([None, True, False]),
        st.sampled_from([None, {}]),
    ), max_size=3, unique_by=lambda tool: tool.name,
)  # fmt: skip
names = st.lists(st.sampled_from("abcd"), max_size=2, unique=True).map(tuple)
choices = st.just(ToolChoice("none")) | st.builds(ToolChoice, st.sampled_from(["auto", "required"]), names)
settings_of_any_kind = st.builds(
    RequestSettings,
    model=st.just(""), max_tokens=st.none() | st.integers(1, 99_999), temperature=st.none() | st.floats(0, 2),
    top_p=st.none() | st.floats(0, 1), top_k=st.none() | st.integers(1, 900), seed=st.none() | st.integers(0, 9),
    stop=st.lists(texts, max_size=7).map(tuple), presence_penalty=st.none() | st.floats(-2, 2),
    frequency_penalty=st.none() | st.floats(-2, 2),
    reasoning=st.none() | st.builds(Reasoning, st.sampled_from(["", *EFFORTS])) | st.builds(Reasoning, st.just(""), st.integers(0, 30_000)),
    response_format=st.none() | st.builds(ResponseFormat, st.none() | st.just(STRICT)),
    tools=tools.map(tuple), tool_choice=st.none() | choices, parallel_calls=st.none() | st.booleans(),
    family=st.just(""), places=st.just({}),
)  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
@given(settings=settings_of_any_kind)
@examples(50)
def test_no_setting_is_lost_without_a_word(name: str, settings: RequestSettings) -> None:
    placed = tuple(replace(tool, place=f"tools[{index}]") for index, tool in enumerate(settings.tools))
    settings = replace(settings, tools=placed)
    new = FORMS[name].write(settings)
    again = read(FORMS[name], new.members) if new.members else RequestSettings()
    if settings.tool_choice == ToolChoice("auto") and again.tool_choice is None:
        settings = replace(settings, tool_choice=None)  # the usual way of every API
    assert_same_or_named(settings, again, [change.place for change in new.changes])
    assert FORMS[name].write(again).members == new.members
