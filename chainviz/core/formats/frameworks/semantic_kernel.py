"""Chat histories of Semantic Kernel, as its Python version (`items`) and its .NET version (`Items`, `$type`) write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, unknown


class SemanticKernel(ReadOnlyUnits):
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

    def messages_in(self, value: Any) -> Sequence[Said]:
        if "Items" in value:
            return [(value["Role"]["Label"], [_net_part(item) for item in objects_of(value, "Items")])]
        return [(value["role"], [_part(item) for item in objects_of(value, "items")])]


def _part(item: dict[str, Any]) -> Part:
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
