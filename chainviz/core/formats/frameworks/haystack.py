"""Chat messages of Haystack: a role, and a list of contents each under the name of its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, unknown

_KINDS = ("text", "tool_call", "tool_call_result", "reasoning", "image")


class Haystack(ReadOnlyUnits):
    name = "haystack"
    label = "Haystack chat messages"
    tested_with = "source of Haystack 2.9 to 2.20"
    hints = ("content", "_content")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        role, content = _members(value)
        is_own = bool(content) and all(len(item) == 1 and next(iter(item)) in _KINDS for item in content)
        return is_own and bool(role) and ("meta" in value or "_meta" in value)

    def messages_in(self, value: Any) -> Sequence[Said]:
        role, content = _members(value)
        return [(role, [_part(item) for item in content])]


def _members(value: dict[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Before version 2.13 the names had an underscore in front."""
    mark = "_" if "_role" in value else ""
    return string_of(value, f"{mark}role"), objects_of(value, f"{mark}content")


def _part(item: dict[str, Any]) -> Part:
    call, result = inner(item, "tool_call"), inner(item, "tool_call_result")
    if string_of(item, "text"):
        return Text(item["text"])
    if call:
        return ToolCall(string_of(call, "id"), string_of(call, "tool_name"), dump(call.get("arguments")))
    if result:
        origin = inner(result, "origin")
        content, is_error = as_text(result.get("result")), result.get("error") is True
        return ToolResult(string_of(origin, "id"), string_of(origin, "tool_name"), content, is_error)
    if inner(item, "reasoning"):
        return Thinking(string_of(item["reasoning"], "reasoning_text"))
    image = inner(item, "image")
    return Image(f"data:{string_of(image, 'mime_type')};base64,{string_of(image, 'base64_image')}") if image else unknown(item)
