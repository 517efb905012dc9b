"""Messages of a Letta agent as its API lists them: each thought, call, result and text is an item of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner

_SAID = {"system_message": "system", "user_message": "user", "assistant_message": "assistant"}
_KINDS = (*_SAID, "reasoning_message", "hidden_reasoning_message", "tool_call_message", "tool_return_message")


class Letta(ReadOnlyUnits):
    name = "letta"
    label = "Letta messages"
    tested_with = "documentation of the Letta API, 2025"
    hints = ("message_type",)

    def is_message(self, value: object) -> bool:
        return string_of(value, "message_type") in _KINDS

    def messages_in(self, value: Any) -> Sequence[Said]:
        kind = value["message_type"]
        if kind in _SAID:
            return [(_SAID[kind], [Text(as_text(value.get("content")))])]
        if kind == "tool_call_message":
            calls = objects_of(value, "tool_calls") or [inner(value, "tool_call")]
            made = [ToolCall(string_of(call, "tool_call_id"), string_of(call, "name"), as_text(call.get("arguments"))) for call in calls]
            return [("assistant", made)]
        if kind == "tool_return_message":
            content, is_error = as_text(value.get("tool_return")), string_of(value, "status") == "error"
            return [("tool", [ToolResult(string_of(value, "tool_call_id"), string_of(value, "name"), content, is_error)])]
        hidden = string_of(value, "hidden_reasoning")
        return [("assistant", [Thinking(string_of(value, "reasoning"), string_of(value, "signature") or hidden, redacted=bool(hidden))])]
