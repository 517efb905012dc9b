"""Sessions of goose: lines of a session file, the `conversation` of an export, or the events that `goose run` prints as
`stream-json`. Results of tools lie in user messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, unknown


class Goose(ReadOnlyUnits):
    name = "goose"
    label = "goose session"
    tested_with = "source of goose 1.0 to 1.20"
    hints = ("created",)
    certainty = 0.98
    carried_types = frozenset(("complete", "notification", "error"))

    def is_message(self, value: object) -> bool:
        message = _message(value)
        is_told = isinstance(message.get("content"), list) and isinstance(message.get("role"), str)
        return is_told and isinstance(message.get("created"), int)

    def is_carried(self, value: object) -> bool:
        is_head = isinstance(value, dict) and "role" not in value and ("working_dir" in value or "message_count" in value)
        return is_head or super().is_carried(value)

    def messages_in(self, value: Any) -> Sequence[Said]:
        message = _message(value)
        blocks = groupby(objects_of(message, "content"), key=lambda item: string_of(item, "type") == "toolResponse")
        found = [("tool" if is_result else message["role"], [_part(item) for item in group]) for is_result, group in blocks]
        return found or [(message["role"], [])]


def _message(value: object) -> dict[str, Any]:
    """The message, which an event holds."""
    if string_of(value, "type") == "message":
        return inner(value, "message")
    return value if isinstance(value, dict) else {}


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind in ("text", "reasoning"):
        return Text(string_of(item, "text")) if kind == "text" else Thinking(string_of(item, "text"))
    if kind == "thinking":
        return Thinking(string_of(item, "thinking"), string_of(item, "signature"))
    if kind == "redactedThinking":
        return Thinking("", string_of(item, "data"), redacted=True)
    if kind == "image":
        return Image(f"data:{string_of(item, 'mimeType')};base64,{string_of(item, 'data')}")
    if kind in ("toolRequest", "frontendToolRequest"):
        call = inner(inner(item, "toolCall"), "value")
        return ToolCall(string_of(item, "id"), string_of(call, "name"), dump(call.get("arguments") or {}))
    return _result(item) if kind == "toolResponse" else unknown(item)


def _result(item: dict[str, Any]) -> ToolResult:
    """Contents are marked with whom they are for: the model is not shown what is for the user alone."""
    result = inner(item, "toolResult")
    value = result.get("value")
    contents = value.get("content") if isinstance(value, dict) else value
    shown = [each for each in contents if _is_for_model(each)] if isinstance(contents, list) else contents
    is_error = string_of(result, "status") == "error" or inner(result, "value").get("isError") is True
    return ToolResult(string_of(item, "id"), "", string_of(result, "error") or as_text(shown), is_error)


def _is_for_model(content: Any) -> bool:
    audience = inner(content, "annotations").get("audience")
    return not isinstance(audience, list) or "assistant" in audience
