"""What a document records of the request beside its messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

import chainviz
from chainviz.core.providers.request import Request, from_list, request_of, to_list

USER = {"role": "user", "content": "hi"}
TOOL = {"name": "look", "input_schema": {"type": "object"}}
CONVERSE = [{"role": "user", "content": [{"text": "hi"}]}]
CONFIG = {"tools": [{"toolSpec": {"name": "look"}}]}


def read(document: Any, format: str = "") -> Request:
    (chain,) = chainviz.load(json.dumps(document).encode(), format)
    return request_of(chain.surroundings)


@pytest.mark.parametrize(
    ("document", "format", "model", "tools"),
    [
        ({"model": "claude-opus-4-8", "messages": [USER], "tools": [TOOL]}, "anthropic", "claude-opus-4-8", ("look",)),
        ({"model": "m", "messages": [USER]}, "anthropic", "m", None),
        ({"messages": [USER], "tools": []}, "anthropic", "", ()),
        ({"request": {"messages": [USER]}, "model": "m"}, "anthropic", "m", None),
        ([USER], "anthropic", "", None),
        ({"modelId": "m", "messages": CONVERSE, "toolConfig": CONFIG}, "bedrock_converse", "m", ("look",)),
    ],
)
def test_the_nearest_object_tells_model_and_tools(document: Any, format: str, model: str, tools: tuple[str, ...] | None) -> None:
    found = read(document, format)
    assert (found.model, found.tools) == (model, tools)
    assert from_list(json.loads(json.dumps(to_list(found)))) == found


def test_members_without_a_value_are_not_listed() -> None:
    assert read({"model": "m", "system": None, "messages": [USER]}, "anthropic").members == ("messages", "model")


def test_an_answer_is_no_request() -> None:
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    assert read(answer).is_answer
    assert not read({"messages": [USER]}, "anthropic").is_answer
