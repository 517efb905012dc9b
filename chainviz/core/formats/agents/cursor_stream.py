"""What `cursor-agent --output-format stream-json` prints: messages in Anthropic's way, and calls as records of their own.

With `--stream-partial-output` the pieces of an answer (they have a `timestamp_ms`) come before the whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, Turn, as_text, call_arguments, inner, text_part, unknown

_STATES = ("started", "completed")


class CursorStream(EventLog):
    name = "cursor_stream"
    label = "Cursor agent stream-json"
    tested_with = "documentation of Cursor's command line, 2026"
    hints = ("message", "tool_call")
    certainty = 0.98
    carried_types = frozenset(("system", "result"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "session_id" not in value or "uuid" in value:
            return False
        if string_of(value, "type") == "tool_call":
            return bool(_call(value)) and string_of(value, "subtype") in _STATES
        is_turn = string_of(value, "type") in ("user", "assistant")
        return (is_turn and bool(inner(value, "message"))) or (value.get("type") == "thinking" and "text" in value)

    def is_piece(self, value: Any) -> bool:
        return string_of(value, "type") == "assistant" and "timestamp_ms" in value

    def confidence(self, sample: Sample) -> float:
        """Claude Code prints lines like these, and lists its tools in the first one."""
        is_own = any((self.is_message(value) and value["type"] == "tool_call") or _is_head(value) for value in sample.values)
        return self.certainty if is_own and any(map(self.is_message, sample.values)) else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["type"]
        if kind == "thinking":
            return [(MODEL, [Thinking(string_of(value, "text"))])]
        if kind != "tool_call":
            return [(kind, list(_content(value["message"].get("content"))))]
        own, (name, call) = string_of(value, "call_id"), next(iter(_call(value).items()))
        if value["subtype"] == "started":
            return [(MODEL, [ToolCall(own, name, call_arguments(call.get("args")))])]
        result = call.get("result")
        is_error = isinstance(result, dict) and "success" not in result
        return [(TOOLS, [ToolResult(own, name, _output(result), is_error)])]


def _is_head(value: Any) -> bool:
    return string_of(value, "subtype") == "init" and "apiKeySource" in value and "tools" not in value


def _call(value: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the call under the name of its tool: `{"readToolCall": {"args": …, "result": …}}`."""
    return {name.removesuffix("ToolCall"): call for name, call in inner(value, "tool_call").items() if isinstance(call, dict)}


def _content(content: Any) -> Iterator[Part]:
    if isinstance(content, str):
        yield Text(content)
    for item in objects_of({"content": content}, "content"):
        yield text_part(item) if string_of(item, "type") == "text" else unknown(item)


def _output(result: Any) -> str:
    """Return the text of a tool's result, or the whole result as JSON."""
    held = next(iter(result.values()), None) if isinstance(result, dict) and len(result) == 1 else result
    content = string_of(held, "content")
    return content or as_text(held)
