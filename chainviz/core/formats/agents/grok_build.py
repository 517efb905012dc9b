"""Sessions of Grok Build (`~/.grok/sessions/…/chat_history.jsonl`): reasoning, text with calls, and results, a record each.

Searches that ran on xAI's servers (`backend_tool_call`) are shown as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog, call_arguments
from chainviz.core.formats.read_only_units import Said, as_text, text_part, unknown

_SPOKEN = ("system", "user", "assistant")
_OTHERS = ("role", "message", "timestamp", "uuid", "sessionId", "session_id")
"""Members of records of other agents."""


class GrokBuild(EventLog):
    name = "grok_build"
    label = "Grok Build session"
    tested_with = "chat_history.jsonl of Grok 4.5, 2026"
    hints = ("content", "tool_call_id", "summary", "backend_tool_call")
    certainty = 0.98
    known_kinds = frozenset(("backend_tool_call",))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or any(key in value for key in _OTHERS):
            return False
        kind = string_of(value, "type")
        if kind in _SPOKEN:
            return isinstance(value.get("content"), str | list) or isinstance(value.get("tool_calls"), list)
        if kind == "tool_result":
            return "tool_call_id" in value and "content" in value
        return (kind == "reasoning" and "summary" in value) or kind == "backend_tool_call"

    def confidence(self, sample: Any) -> float:
        """Reasoning alone is an item of the Responses API."""
        own = [value for value in sample.values if self.is_message(value)]
        return self.certainty if any(value["type"] != "reasoning" for value in own) else 0.0

    def messages_in(self, value: Any) -> Sequence[Said]:
        kind = value["type"]
        if kind == "tool_result":
            return [(TOOLS, [ToolResult(string_of(value, "tool_call_id"), "", as_text(value["content"]))])]
        if kind == "reasoning":
            text = "\n\n".join(string_of(item, "text") for item in objects_of(value, "summary"))
            return [(MODEL, [Thinking(text, string_of(value, "encrypted_content"))])]
        if kind == "backend_tool_call":
            return [(MODEL, [unknown(value)])]
        return [(kind, [*_content(value.get("content")), *map(_call, objects_of(value, "tool_calls"))])]


def _content(content: Any) -> Iterator[Part]:
    """The parts of a string, or of a list of texts and images."""
    if isinstance(content, str):
        yield from [Text(content)] if content else []
        return
    for item in objects_of({"content": content}, "content"):
        url = string_of(item, "url") or string_of(item.get("image_url"), "url")
        if string_of(item, "type") == "text":
            yield text_part(item)
        else:
            yield Image(url) if url else unknown(item)


def _call(item: dict[str, Any]) -> ToolCall:
    function = item.get("function")
    holder = function if isinstance(function, dict) else item
    return ToolCall(string_of(item, "id"), string_of(holder, "name"), call_arguments(holder.get("arguments")))
