"""Grok Build: its chat history, its printed stream, and the updates of the Agent Client Protocol that it writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import Fragment, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.formats.read_only import MODEL, TOOLS, EventLog, Turn, as_text, call_arguments, inner, text_part, unknown

_USER, _ANSWER, _THOUGHT = "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"
_CALL, _CHANGE = "tool_call", "tool_call_update"
_STATES = (
    "plan", "plan_update", "plan_removed", "available_commands_update", "current_mode_update", "config_option_update",
    "session_info_update", "usage_update",
)  # fmt: skip
_ENDED = ("completed", "failed", "cancelled")


class ACPUpdates(EventLog):
    """Updates of the Agent Client Protocol, as Grok writes them (`~/.grok/sessions/…/updates.jsonl`) and other agents send
    them: the pieces of prompts, thoughts and answers, tool calls, and how these went on.

    An update of a call that ended is its result; the others tell how far it was.
    """

    name = "acp_updates"
    label = "Agent Client Protocol updates (Grok)"
    tested_with = "version 1 of the protocol, updates.jsonl of Grok"
    hints = ("sessionUpdate", "prompt")
    joined = frozenset((MODEL, TOOLS, "user"))
    is_streamed = True
    carried_fields = frozenset(("title", "locations"))

    def is_message(self, value: object) -> bool:
        update = _update(value)
        kind = string_of(update, "sessionUpdate")
        is_told = kind == _CHANGE and (_is_result(update) or bool(update.get("rawInput")))
        return is_told or kind in (_USER, _ANSWER, _THOUGHT, _CALL) or bool(_prompt(value))

    def is_carried(self, value: object) -> bool:
        """Return True for an update about the progress of a call or the session, without a text."""
        update = _update(value)
        kind = string_of(update, "sessionUpdate")
        is_state = kind == _CHANGE and not update.get("content") and not update.get("rawOutput")
        return is_state or kind in _STATES or _is_other_call(value)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        update = _update(value)
        if _prompt(value):
            return [("user", [_acp_content(block) for block in _prompt(value)])]
        kind = update["sessionUpdate"]
        if kind in (_USER, _ANSWER):
            return [("user" if kind == _USER else MODEL, [_acp_content(inner(update, "content"))])]
        if kind == _THOUGHT:
            return [(MODEL, [Thinking(string_of(update.get("content"), "text"))])]
        results: list[Turn] = [(TOOLS, [_result(update)])] if _is_result(update) else []
        return results if kind == _CHANGE and results else [(MODEL, [_acp_call(update)]), *results]

    def joined_message(self, found: Sequence[Turn], source: Iterable[Fragment], *, is_streamed: bool) -> Message:
        """Join the records. A call takes its arguments from its last record that has any."""
        message = super().joined_message(found, source, is_streamed=is_streamed)
        last = {part.id: part for part in message.parts if isinstance(part, ToolCall) and part.arguments != "{}"}
        parts: dict[object, Part] = {}
        for place, part in enumerate(message.parts):
            if isinstance(part, ToolCall):
                parts.setdefault(part.id, last.get(part.id, part))
            else:
                parts[place] = part
        numbered = tuple(replace(part, origin=place) for place, part in enumerate(parts.values()))
        return replace(message, parts=numbered)


def _prompt(value: object) -> list[dict[str, Any]]:
    """Return the request of a client: the blocks of `session/prompt`."""
    is_request = string_of(value, "method") == "session/prompt"
    return objects_of(inner(value, "params"), "prompt") if is_request else []


def _is_other_call(value: object) -> bool:
    """Return True for a request or response that is not part of the conversation."""
    if not isinstance(value, dict) or "jsonrpc" not in value:
        return False
    method = value.get("method")
    return "result" in value or "error" in value if method is None else method not in ("session/update", "session/prompt")


def _update(value: object) -> dict[str, Any]:
    """Return the update of a notification, of its parameters, or the value itself."""
    for key in ("params", "update"):
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value = value[key]
    return value if isinstance(value, dict) else {}


def _is_result(update: dict[str, Any]) -> bool:
    return string_of(update, "status") in _ENDED


def _acp_content(block: dict[str, Any]) -> Part:
    kind = string_of(block, "type")
    if kind == "text":
        return text_part(block)
    if kind == "image" and string_of(block, "data"):
        return Image(f"data:{string_of(block, 'mimeType')};base64,{block['data']}")
    return unknown(block)


def _acp_call(update: dict[str, Any]) -> ToolCall:
    name = string_of(inner(update, "_meta"), "toolName") or string_of(update, "title") or string_of(update, "kind")
    return ToolCall(string_of(update, "toolCallId"), name, call_arguments(update.get("rawInput") or {}))


def _result(update: dict[str, Any]) -> ToolResult:
    texts = [as_text(_piece_text(item)) for item in objects_of(update, "content")]
    content = "\n".join(filter(None, texts)) or as_text(update.get("rawOutput"))
    return ToolResult(string_of(update, "toolCallId"), "", content, string_of(update, "status") == "failed")


def _piece_text(item: dict[str, Any]) -> Any:
    """Return the text of a piece of a call's content, or the whole piece (a diff, a terminal)."""
    content = inner(item, "content")
    return string_of(content, "text") if string_of(content, "type") == "text" else item


_SPOKEN = ("system", "user", "assistant")
_OTHERS = ("role", "message", "timestamp", "uuid", "sessionId", "session_id")
"""Members that only records of other agents have."""


class GrokBuild(EventLog):
    """Sessions of Grok Build (`~/.grok/sessions/…/chat_history.jsonl`): reasoning, text with calls, and results, a record each.
    Searches that ran on xAI's servers (`backend_tool_call`) are shown as they are.
    """

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

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["type"]
        if kind == "tool_result":
            return [(TOOLS, [ToolResult(string_of(value, "tool_call_id"), "", as_text(value["content"]))])]
        if kind == "reasoning":
            text = "\n\n".join(string_of(item, "text") for item in objects_of(value, "summary"))
            return [(MODEL, [Thinking(text, string_of(value, "encrypted_content"))])]
        if kind == "backend_tool_call":
            return [(MODEL, [unknown(value)])]
        return [(kind, [*_grok_content(value.get("content")), *map(_grok_call, objects_of(value, "tool_calls"))])]


def _grok_content(content: Any) -> Iterator[Part]:
    """Yield the parts of a string, or of a list of texts and images."""
    if isinstance(content, str):
        yield from [Text(content)] if content else []
        return
    for item in objects_of({"content": content}, "content"):
        url = string_of(item, "url") or string_of(item.get("image_url"), "url")
        if string_of(item, "type") == "text":
            yield text_part(item)
        else:
            yield Image(url) if url else unknown(item)


def _grok_call(item: dict[str, Any]) -> ToolCall:
    function = item.get("function")
    holder = function if isinstance(function, dict) else item
    return ToolCall(string_of(item, "id"), string_of(holder, "name"), call_arguments(holder.get("arguments")))


class GrokStream(EventLog):
    """The output of `grok --output-format streaming-json`: the thoughts and the text of an answer in pieces, and why it
    ended."""

    name = "grok_stream"
    label = "Grok streaming-json"
    tested_with = "records of Grok Build, 2026"
    hints = ("data",)
    is_streamed = True
    carried_types = frozenset(("end",))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not value.keys() <= {"type", "data", "timestamp"}:
            return False
        return value.get("type") in ("thought", "text") and isinstance(value.get("data"), str)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        data = string_of(value, "data")
        return [(MODEL, [Thinking(data) if value["type"] == "thought" else Text(data)])]
