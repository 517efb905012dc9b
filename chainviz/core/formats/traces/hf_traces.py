"""Session traces as the Hugging Face Hub shows them (its simple format): a line about the session, then a message a line.

Lines look like pi's, but the messages are OpenAI's in camel case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.event_log import call_arguments
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner

_ROLES = ("system", "user", "assistant", "tool")
_OWN = ("toolCalls", "toolCallId", "reasoningContent")


class HFTraces(ReadOnlyUnits):
    name = "hf_traces"
    label = "Hugging Face session trace"
    tested_with = "documentation of the Session Trace Simple Format, 2026"
    hints = ("message",)
    carried_types = frozenset(("session",))

    def is_message(self, value: object) -> bool:
        return string_of(value, "type") == "message" and string_of(inner(value, "message"), "role") in _ROLES

    def confidence(self, sample: Sample) -> float:
        messages = [value["message"] for value in sample.values if self.is_message(value)]
        if not messages:
            return 0.0
        is_named = any(string_of(value, "type") == "session" and "harness" in value for value in sample.values)
        return 0.985 if is_named or any(key in message for message in messages for key in _OWN) else 0.0

    def messages_in(self, value: Any) -> Sequence[Said]:
        message = value["message"]
        role, content = message["role"], message.get("content")
        if role == "tool":
            return [(role, [ToolResult(string_of(message, "toolCallId"), string_of(message, "toolName"), as_text(content))])]
        thought = string_of(message, "reasoningContent")
        said: list[Part] = [*([Thinking(thought)] if thought else []), *([Text(as_text(content))] if content else [])]
        return [(role, [*said, *map(_call, objects_of(message, "toolCalls"))])]


def _call(item: dict[str, Any]) -> ToolCall:
    function = inner(item, "function") or item
    return ToolCall(string_of(item, "id"), string_of(function, "name"), call_arguments(function.get("arguments")))
