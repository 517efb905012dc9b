"""Results that a chain holds, and the schemas of its tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chainviz.core.chain.messages import AI, TOOL, Image, Message, Text, ToolCall, ToolResult
from chainviz.core.chain.tree import BodyPair
from chainviz.core.text_formats import get_text_format
from chainviz.core.toolchain import Failure, Output, ToolSchemas, format_results, stored_outputs, tool_schemas
from chainviz.core.toolchain.results import MISSING, value_of

PICTURE = Image("https://example.invalid/x.png")
PAIR = BodyPair(
    Message(AI, (Text("x"), ToolCall("1", "a", "{}"), ToolCall("1", "b", "{}"), ToolCall("3", "c", "{}"), ToolCall("4", "d", "{}"))),
    (
        Message(TOOL, (ToolResult("1", "", '{"n": 1}', media=(PICTURE,)), ToolResult("4", "", "Error: boom", media=(PICTURE,)))),
        Message(TOOL, (ToolResult("1", "b", "plain"), ToolResult("9", "x", "orphan"))),
    ),
)  # fmt: skip


def test_stored_results_come_in_call_order_and_a_missing_one_is_an_error() -> None:
    calls, outputs = stored_outputs(PAIR)
    assert [call.name for call in calls] == ["a", "b", "c", "d"]
    assert outputs == (Output({"n": 1}, (PICTURE,)), Output("plain"), MISSING, Failure("boom"))
    result = format_results(calls, outputs, get_text_format("markdown"))
    assert result.text == '# a\n{"n":1}\n\n# b\n"plain"\n\n# c\nError: no result is stored for this call\n\n# d\nError: boom'
    assert result.media == (PICTURE,)
    assert result.as_content_parts() == (Text(result.text), PICTURE)
    assert result.raw.calls == calls
    assert [each and each.output for each in result.raw.results] == [{"n": 1}, "plain", None, None]


VALUES: list[tuple[str, Any, Any]] = [
    ('{"a": 1}', None, {"a": 1}), ("[1]", None, [1]), (" [1] ", None, [1]), ("42", None, "42"), ("{bad", None, "{bad"),
    ("42", {"type": "integer"}, 42), ('{"a": 1}', {"type": "string"}, '{"a": 1}'), ("null", {"type": "object"}, None),
    ("x", {"type": "object"}, "x"), ("true", {"type": ["string", "null"]}, "true"), ("[" * 9999, None, "[" * 9999),
]  # fmt: skip


@pytest.mark.parametrize(("content", "schema", "value"), VALUES)
def test_a_stored_text_is_read_by_the_schema_of_the_tools_output(content: str, schema: Any, value: Any) -> None:
    assert value_of(content, schema) == value


def test_schemas_reach_the_outputs() -> None:
    _, outputs = stored_outputs(PAIR, ToolSchemas(results={"a": {"type": "string"}}))
    assert outputs[0] == Output('{"n": 1}', (PICTURE,))


DECLARED = [
    {"tools": [{"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}]},
    {"tools": [{"type": "function", "name": "t", "parameters": {"type": "object"}}]},
    {"tools": [{"name": "t", "input_schema": {"type": "object"}}]},
    {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]},
    {"tools": [{"functionDeclarations": [{"name": "t", "parameters": {"type": "object"}}]}]},
    {"toolConfig": {"tools": [{"toolSpec": {"name": "t", "inputSchema": {"json": {"type": "object"}}}}]}},
]


@pytest.mark.parametrize("beside", DECLARED, ids=lambda beside: json.dumps(beside)[:40])
def test_schemas_are_found_in_every_providers_request(beside: dict[str, Any]) -> None:
    assert tool_schemas(beside) == ToolSchemas({"t": {"type": "object"}})


def test_schemas_of_results_are_found_and_odd_tools_left_out() -> None:
    tools = [7, {"name": 3}, {"function": []}, {"name": "t", "outputSchema": {"type": "string"}}]
    assert tool_schemas({"tools": tools}) == ToolSchemas(results={"t": {"type": "string"}})
    assert tool_schemas({"tools": "x", "toolConfig": 1}) == ToolSchemas()
