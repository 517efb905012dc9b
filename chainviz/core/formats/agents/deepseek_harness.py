"""Sessions of DeepSeek's harness (`~/.dsh/sessions/…/session.jsonl`): messages, calls and results as events.

The pieces of an answer that streamed in come before the whole answer; they count where the session ends before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, Turn, as_text, call_arguments, inner, text_part, unknown

_WORDS = {"system/message": "system", "user/message": "user", "assistant/message": MODEL}
_PIECES = ("assistant/chunk", "text-chunks", "reasoning-chunks")


class DeepSeekHarness(EventLog):
    name = "deepseek_harness"
    label = "DeepSeek harness session"
    tested_with = "sessions of version 0, 2026"
    hints = ("data",)
    certainty = 0.98
    carried_types = frozenset(
        (*_PIECES, "session", "session/title", "permission/preset", "turn/start", "turn/end", "step/start", "step/end")
    )

    def is_piece(self, value: Any) -> bool:
        return string_of(value, "type") in _PIECES

    def is_message(self, value: object) -> bool:
        kind = string_of(value, "type")
        if kind in _PIECES:
            return bool(_piece(value))
        if kind == "tool/call":
            return isinstance(inner(value, "data").get("name"), str)
        return (kind in _WORDS or kind == "tool/result") and bool(_message(value))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind, message = value["type"], _message(value)
        if kind in _PIECES:
            return [(MODEL, [Thinking(text) if is_thought else Text(text) for text, is_thought in _piece(value)])]
        if kind == "tool/call":
            data = value["data"]
            return [(MODEL, [ToolCall(string_of(data, "callId"), data["name"], call_arguments(data.get("arguments")))])]
        if kind == "tool/result":
            return [(TOOLS, list(_results(message)))]
        return [(_WORDS[kind], list(_content(message.get("content"))))]


def _piece(value: Any) -> list[tuple[str, bool]]:
    """Return the texts of a piece of an answer, each with whether it is a thought."""
    data = inner(value, "data")
    chunk = inner(data, "chunk")
    texts = [chunk.get("text")] if chunk else data.get("texts")
    is_thought = "reasoning" in (string_of(chunk, "type") or value["type"])
    return [(text, is_thought) for text in texts if isinstance(text, str)] if isinstance(texts, list) else []


def _message(value: Any) -> dict[str, Any]:
    """Return the message of an event: its data, or a member of it."""
    data = inner(value, "data")
    message = inner(data, "message") or data
    return message if isinstance(message.get("content"), str | list) else {}


def _content(content: Any) -> Iterator[Part]:
    """Yield the parts of an answer; calls are separate events."""
    if isinstance(content, str):
        yield Text(content)
    for item in objects_of({"content": content}, "content"):
        kind = string_of(item, "type")
        if kind == "tool-call":
            continue
        yield Thinking(string_of(item, "text")) if kind == "reasoning" else text_part(item) if kind == "text" else unknown(item)


def _results(message: dict[str, Any]) -> Iterator[ToolResult]:
    items = [item for item in objects_of(message, "content") if string_of(item, "type") == "tool-result"]
    for item in items or [message]:
        own = string_of(item, "toolCallId") or string_of(message.get("source"), "callId")
        content = item["content"] if "content" in item else item.get("output")
        yield ToolResult(own, string_of(item, "toolName"), as_text(content), item.get("isError") is True)
