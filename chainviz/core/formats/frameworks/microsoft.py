"""Frameworks by Microsoft: AutoGen and Semantic Kernel."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, inner, unknown

_HUMAN = "user"
_KINDS = {
    "SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool", "TextMessage": "", "MultiModalMessage": "", "StopMessage": "",
    "HandoffMessage": "", "StructuredMessage": "", "ToolCallSummaryMessage": "assistant", "ToolCallRequestEvent": "assistant",
    "ToolCallExecutionEvent": "tool", "ThoughtEvent": "assistant", "CodeGenerationEvent": "assistant",
    "CodeExecutionEvent": "user", "MemoryQueryEvent": "user",
}  # fmt: skip
"""The role of each type; "" if `source` names the speaker."""


class AutoGen(ReadOnlyUnits):
    """AutoGen AgentChat: the messages and events of a run or of a team's thread, and the context of an agent in a saved state."""

    name = "autogen"
    label = "AutoGen AgentChat"
    tested_with = "documentation of autogen-agentchat 0.4 to 0.7"
    hints = tuple(_KINDS)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and string_of(value, "type") in _KINDS and "content" in value and "role" not in value

    def messages_in(self, value: Any) -> Sequence[Turn]:
        role = _KINDS[value["type"]] or ("user" if string_of(value, "source") == _HUMAN else "assistant")
        return [(role, [*_thought(value), *_parts(value, role)])]


def _thought(value: dict[str, Any]) -> Iterator[Part]:
    if string_of(value, "thought"):
        yield Thinking(value["thought"])


def _parts(value: dict[str, Any], role: str) -> Iterator[Part]:
    content = value["content"]
    if isinstance(content, str):
        yield Thinking(content) if value["type"] == "ThoughtEvent" else Text(content)
    elif not isinstance(content, list):
        yield Text(as_text(content))
    elif role == "tool":
        for item in objects_of(value, "content"):
            is_error = item.get("is_error") is True
            yield ToolResult(string_of(item, "call_id"), string_of(item, "name"), as_text(item.get("content")), is_error)
    else:
        yield from map(_autogen_part, content)


def _autogen_part(item: Any) -> Part:
    """Read a text, a call, or an image as bytes or as an address."""
    if isinstance(item, str):
        return Text(item)
    if "arguments" in item if isinstance(item, dict) else False:
        return ToolCall(string_of(item, "id"), string_of(item, "name"), as_text(item["arguments"]))
    if string_of(item, "data"):
        return Image(f"data:image/png;base64,{item['data']}")
    url = string_of(inner(item, "image_url"), "url")
    return Image(url) if url else unknown(item)


class SemanticKernel(ReadOnlyUnits):
    """Chat histories of Semantic Kernel, as its Python version (`items`) and its .NET version (`Items`, `$type`) write them."""

    name = "semantic_kernel"
    label = "Semantic Kernel chat history"
    tested_with = "source of Semantic Kernel 1.x, Python and .NET"
    hints = ("content_type", "$type")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        is_python = bool(string_of(value, "role")) and any("content_type" in item for item in objects_of(value, "items"))
        is_net = bool(string_of(inner(value, "Role"), "Label")) and any("$type" in item for item in objects_of(value, "Items"))
        return is_python or is_net

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if "Items" in value:
            return [(value["Role"]["Label"], [_net_part(item) for item in objects_of(value, "Items")])]
        return [(value["role"], [_kernel_part(item) for item in objects_of(value, "items")])]


def _kernel_part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "content_type")
    if kind == "text":
        return Text(string_of(item, "text"))
    if kind == "reasoning":
        return Thinking(string_of(item, "text"))
    if kind == "image" and (string_of(item, "data_uri") or string_of(item, "uri")):
        return Image(string_of(item, "data_uri") or string_of(item, "uri"))
    if kind == "function_call":
        return ToolCall(string_of(item, "id"), _name(item), as_text(item.get("arguments")))
    if kind == "function_result":
        return ToolResult(string_of(item, "call_id") or string_of(item, "id"), _name(item), as_text(item.get("result")))
    return unknown({"type": kind, **item})


def _name(item: dict[str, Any]) -> str:
    names = [string_of(item, "plugin_name"), string_of(item, "function_name")]
    return string_of(item, "name") or "-".join(filter(None, names))


def _net_part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "$type")
    name = "-".join(filter(None, (string_of(item, "PluginName"), string_of(item, "FunctionName"))))
    if kind == "TextContent":
        return Text(string_of(item, "Text"))
    if kind == "FunctionCallContent":
        return ToolCall(string_of(item, "Id"), name, dump(item.get("Arguments") or {}))
    if kind == "FunctionResultContent":
        return ToolResult(string_of(item, "CallId"), name, as_text(item.get("Result")))
    url = string_of(item, "DataUri") or string_of(item, "Uri")
    return Image(url) if kind == "ImageContent" and url else unknown({"type": kind, **item})
