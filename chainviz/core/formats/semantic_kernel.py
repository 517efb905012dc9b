"""Chat histories of Semantic Kernel, as its Python version (`items`) and its .NET version (`Items`, `$type`) write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, items, unknown, word


class SemanticKernel(ReadOnlyUnits):
    name = "semantic_kernel"
    label = "Semantic Kernel chat history"
    tested_with = "source of Semantic Kernel 1.x, Python and .NET"
    hints = ("content_type", "$type")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        is_python = bool(word(value, "role")) and any("content_type" in item for item in items(value, "items"))
        is_net = bool(word(inner(value, "Role"), "Label")) and any("$type" in item for item in items(value, "Items"))
        return is_python or is_net

    def messages_in(self, value: Any) -> Sequence[Said]:
        if "Items" in value:
            return [(value["Role"]["Label"], [_net_part(item) for item in items(value, "Items")])]
        return [(value["role"], [_part(item) for item in items(value, "items")])]


def _part(item: dict[str, Any]) -> Part:
    kind = word(item, "content_type")
    if kind == "text":
        return Text(word(item, "text"))
    if kind == "reasoning":
        return Thinking(word(item, "text"))
    if kind == "image" and (word(item, "data_uri") or word(item, "uri")):
        return Image(word(item, "data_uri") or word(item, "uri"))
    if kind == "function_call":
        return ToolCall(word(item, "id"), _name(item), as_text(item.get("arguments")))
    if kind == "function_result":
        return ToolResult(word(item, "call_id") or word(item, "id"), _name(item), as_text(item.get("result")))
    return unknown({"type": kind, **item})


def _name(item: dict[str, Any]) -> str:
    names = [word(item, "plugin_name"), word(item, "function_name")]
    return word(item, "name") or "-".join(filter(None, names))


def _net_part(item: dict[str, Any]) -> Part:
    kind = word(item, "$type")
    name = "-".join(filter(None, (word(item, "PluginName"), word(item, "FunctionName"))))
    if kind == "TextContent":
        return Text(word(item, "Text"))
    if kind == "FunctionCallContent":
        return ToolCall(word(item, "Id"), name, dump(item.get("Arguments") or {}))
    if kind == "FunctionResultContent":
        return ToolResult(word(item, "CallId"), name, as_text(item.get("Result")))
    url = word(item, "DataUri") or word(item, "Uri")
    return Image(url) if kind == "ImageContent" and url else unknown({"type": kind, **item})
