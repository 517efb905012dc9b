"""Chat messages of LlamaIndex with blocks, as chat stores and memories keep them; calls may lie in `additional_kwargs`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, unknown


class LlamaIndex(ReadOnlyUnits):
    name = "llamaindex"
    label = "LlamaIndex chat messages"
    tested_with = "source of llama-index-core 0.12 to 0.14"
    hints = ("blocks",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or not isinstance(value.get("blocks"), list):
            return False
        return "additional_kwargs" in value or any("block_type" in item for item in objects_of(value, "blocks"))

    def messages_in(self, value: Any) -> Sequence[Said]:
        beside = inner(value, "additional_kwargs")
        parts = [_part(item) for item in objects_of(value, "blocks")]
        if value["role"] in ("tool", "function"):
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            return [("tool", [ToolResult(string_of(beside, "tool_call_id"), string_of(beside, "name"), text)])]
        return [(value["role"], [*parts, *map(_call, objects_of(beside, "tool_calls"))])]


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "block_type")
    if kind == "text":
        return Text(string_of(item, "text"))
    if kind == "thinking":
        return Thinking(string_of(item, "content"))
    if kind == "tool_call":
        return ToolCall(string_of(item, "tool_call_id"), string_of(item, "tool_name"), as_text(item.get("tool_kwargs")))
    if kind == "image" and string_of(item, "url"):
        return Image(item["url"])
    return unknown({"type": kind, **item})


def _call(item: dict[str, Any]) -> ToolCall:
    function = inner(item, "function") or item
    return ToolCall(string_of(item, "id"), string_of(function, "name"), as_text(function.get("arguments") or function.get("input")))
