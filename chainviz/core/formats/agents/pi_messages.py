"""Messages of pi and OpenClaw in records of other programs, without the entries of a session around them: OpenClaw's `agent.end`,
telemetry, and what pi's agent core sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.event_log import call_arguments
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, unknown

_WORDS = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


class PiMessages(ReadOnlyUnits):
    name = "pi_messages"
    label = "pi / OpenClaw messages"
    tested_with = "OpenClaw's agent.end and pi's agent core, 2026"
    hints = ("role",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or string_of(value, "role") not in _WORDS:
            return False
        return isinstance(value.get("content"), str | list) and "messages" not in value

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(self.is_message(value) and _is_own(value) for value in sample.values) else 0.0

    def messages_in(self, value: Any) -> Sequence[Said]:
        role, content = value["role"], value["content"]
        if role == "toolResult":
            name, is_error = string_of(value, "toolName"), value.get("isError") is True
            return [("tool", [ToolResult(string_of(value, "toolCallId"), name, as_text(content), is_error)])]
        parts = [Text(content)] if isinstance(content, str) else map(_part, objects_of(value, "content"))
        return [(_WORDS[role], list(parts))]


def _is_own(value: dict[str, Any]) -> bool:
    if value["role"] == "toolResult":
        return "toolCallId" in value
    is_answer = value["role"] == "assistant" and "api" in value and "stopReason" in value
    return is_answer or any(string_of(item, "type") == "toolCall" and "arguments" in item for item in objects_of(value, "content"))


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "text":
        return Text(string_of(item, "text"))
    if kind == "thinking":
        return Thinking(string_of(item, "thinking"), string_of(item, "thinkingSignature"), item.get("redacted") is True)
    if kind == "toolCall":
        return ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("arguments")))
    if kind == "image" and string_of(item, "data"):
        return Image(f"data:{string_of(item, 'mimeType')};base64,{item['data']}")
    return unknown(item)
