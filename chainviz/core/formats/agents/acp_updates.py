"""Updates of the Agent Client Protocol, as Grok writes them (`~/.grok/sessions/…/updates.jsonl`) and other agents send them: the
pieces of prompts, thoughts and answers, tool calls, and how these went on.

An update of a call that ended is its result; the others tell how far it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import Fragment, Image, Message, Part, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog, call_arguments
from chainviz.core.formats.read_only_units import Said, as_text, inner, text_part, unknown

_USER, _ANSWER, _THOUGHT = "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"
_CALL, _CHANGE = "tool_call", "tool_call_update"
_STATES = (
    "plan", "plan_update", "plan_removed", "available_commands_update", "current_mode_update", "config_option_update",
    "session_info_update", "usage_update",
)  # fmt: skip
_ENDED = ("completed", "failed", "cancelled")


class ACPUpdates(EventLog):
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
        """An update that tells how far a call or the session is, without words of anybody."""
        update = _update(value)
        kind = string_of(update, "sessionUpdate")
        is_state = kind == _CHANGE and not update.get("content") and not update.get("rawOutput")
        return is_state or kind in _STATES or _is_other_call(value)

    def messages_in(self, value: Any) -> Sequence[Said]:
        update = _update(value)
        if _prompt(value):
            return [("user", [_content(block) for block in _prompt(value)])]
        kind = update["sessionUpdate"]
        if kind in (_USER, _ANSWER):
            return [("user" if kind == _USER else MODEL, [_content(inner(update, "content"))])]
        if kind == _THOUGHT:
            return [(MODEL, [Thinking(string_of(update.get("content"), "text"))])]
        results: list[Said] = [(TOOLS, [_result(update)])] if _is_result(update) else []
        return results if kind == _CHANGE and results else [(MODEL, [_call(update)]), *results]

    def joined_message(self, found: Sequence[Said], source: Iterable[Fragment], *, is_streamed: bool) -> Message:
        """A later record of a call has what the first one does not know yet."""
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
    """What a client asks: the blocks of a request `session/prompt`."""
    is_request = string_of(value, "method") == "session/prompt"
    return objects_of(inner(value, "params"), "prompt") if is_request else []


def _is_other_call(value: object) -> bool:
    """Whether it is a request or a response that says nothing of the conversation."""
    if not isinstance(value, dict) or "jsonrpc" not in value:
        return False
    method = value.get("method")
    return "result" in value or "error" in value if method is None else method not in ("session/update", "session/prompt")


def _update(value: object) -> dict[str, Any]:
    """The update of a notification, of its parameters, or the value itself."""
    for key in ("params", "update"):
        if isinstance(value, dict) and isinstance(value.get(key), dict):
            value = value[key]
    return value if isinstance(value, dict) else {}


def _is_result(update: dict[str, Any]) -> bool:
    return string_of(update, "status") in _ENDED


def _content(block: dict[str, Any]) -> Part:
    kind = string_of(block, "type")
    if kind == "text":
        return text_part(block)
    if kind == "image" and string_of(block, "data"):
        return Image(f"data:{string_of(block, 'mimeType')};base64,{block['data']}")
    return unknown(block)


def _call(update: dict[str, Any]) -> ToolCall:
    name = string_of(inner(update, "_meta"), "toolName") or string_of(update, "title") or string_of(update, "kind")
    return ToolCall(string_of(update, "toolCallId"), name, call_arguments(update.get("rawInput") or {}))


def _result(update: dict[str, Any]) -> ToolResult:
    texts = [as_text(_shown(item)) for item in objects_of(update, "content")]
    content = "\n".join(filter(None, texts)) or as_text(update.get("rawOutput"))
    return ToolResult(string_of(update, "toolCallId"), "", content, string_of(update, "status") == "failed")


def _shown(item: dict[str, Any]) -> Any:
    """What a piece of a call's content says: its text, or the whole piece (a diff, a terminal)."""
    content = inner(item, "content")
    return string_of(content, "text") if string_of(content, "type") == "text" else item
