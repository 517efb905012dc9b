"""Transcripts of Cursor's agent (`~/.cursor/projects/…/agent-transcripts/…jsonl`): a message a line, in blocks like Anthropic's.

Calls have no ids, and what tools returned is not recorded; `[REDACTED]` stands for reasoning that Cursor leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, call_arguments, inner, text_part, unknown

_ROLES = ("user", "assistant")
_OTHERS = ("type", "uuid", "sessionId")
"""Members of lines of other agents, which also have a `message`."""


class CursorAgent(ReadOnlyUnits):
    name = "cursor_agent"
    label = "Cursor agent transcript"
    tested_with = "transcripts of 2025 and 2026"
    hints = ("message",)
    carried_types = frozenset(("turn_ended",))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or value.get("role") not in _ROLES or any(key in value for key in _OTHERS):
            return False
        message = value.get("message")
        return isinstance(message, dict) and "role" not in message and isinstance(message.get("content"), str | list)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        content = value["message"]["content"]
        if isinstance(content, str):
            return [(value["role"], [Text(content)])]
        runs = groupby(objects_of(inner(value, "message"), "content"), key=lambda item: string_of(item, "type") == "tool_result")
        found = [("tool" if is_result else value["role"], [_part(item) for item in items]) for is_result, items in runs]
        return found or [(value["role"], [])]


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "text":
        return text_part(item)
    if kind == "thinking":
        return Thinking(string_of(item, "thinking") or string_of(item, "text"))
    if kind == "tool_use":
        return ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("input")))
    if kind == "tool_result":
        return ToolResult(string_of(item, "tool_use_id"), "", as_text(item.get("content")), item.get("is_error") is True)
    return unknown(item)
