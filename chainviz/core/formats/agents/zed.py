"""Threads of Zed: version 0.2 with segments, calls and results beside one another, version 0.3 with tagged messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, inner, with_results

_TAGS = {"User": "user", "Agent": "assistant"}


class Zed(ReadOnlyUnits):
    name = "zed"
    label = "Zed thread"
    tested_with = "source of Zed, threads 0.2 and 0.3"
    hints = ("segments", "User", "Agent")
    carried_fields = frozenset(("raw_input", "context"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        if isinstance(value.get("segments"), list):
            return bool(string_of(value, "role"))
        return len(value) == 1 and any(isinstance(inner(value, tag).get("content"), list) for tag in _TAGS)

    def is_carried(self, value: object) -> bool:
        return value == "Resume"

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if "segments" in value:
            return _segmented(value)
        ((tag, message),) = value.items()
        results = [_result(item) for item in inner(message, "tool_results").values()]
        return with_results(_TAGS[tag], [_part(item) for item in objects_of(message, "content")], results)


def _segmented(value: dict[str, Any]) -> list[Turn]:
    parts = [_segment(item) for item in objects_of(value, "segments")]
    calls = [ToolCall(string_of(item, "id"), string_of(item, "name"), dump(item.get("input"))) for item in objects_of(value, "tool_uses")]
    results = [_result(item) for item in objects_of(value, "tool_results")]
    said = (string_of(value, "role"), [*parts, *calls])
    answered: list[Turn] = [("tool", results)] if results else []
    return [said, *answered] if calls or not results else [*answered, *([said] if parts else [])]


def _segment(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "thinking":
        return Thinking(string_of(item, "text"), string_of(item, "signature"))
    return Text(string_of(item, "text")) if kind == "text" else Opaque(kind or "segment", dump(item))


def _part(item: dict[str, Any]) -> Part:
    kind = next(iter(item), "part")
    value = item.get(kind)
    if kind == "Text":
        return Text(as_text(value))
    if kind == "Thinking":
        return Thinking(string_of(value, "text"), string_of(value, "signature"))
    if kind == "RedactedThinking":
        return Thinking("", as_text(value), redacted=True)
    if kind == "ToolUse":
        return ToolCall(string_of(value, "id"), string_of(value, "name"), dump(inner(value, "input")))
    if kind == "Image":
        return Image(f"data:image/png;base64,{string_of(value, 'source')}")
    return Opaque(kind, dump(item))


def _result(item: Any) -> ToolResult:
    content = item.get("content") if isinstance(item, dict) else item
    is_error = isinstance(item, dict) and item.get("is_error") is True
    text = string_of(content, "Text") or as_text(content)
    return ToolResult(string_of(item, "tool_use_id"), string_of(item, "tool_name"), text, is_error)
