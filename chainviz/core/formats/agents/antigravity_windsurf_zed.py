"""Transcripts of editors: the steps of a session in Windsurf and Antigravity, a line each, and threads of Zed.

Zed's version 0.2 has segments, calls and results beside one another, version 0.3 tagged messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from chainviz.core.chain.messages import HUMAN, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only import MODEL, ROLES, TOOLS, EventLog, ReadOnlyUnits, Turn, as_text, call_arguments, inner, with_results

_OUTPUTS = ("output", "content", "stdout", "stderr", "result", "results", "matches", "raw_output", "error", "exit_code", "user_rejected")
"""Members that contain the output of a tool."""


class Windsurf(EventLog):
    """Transcripts of Windsurf and Devin Desktop: steps `{status, type, <type>: {…}}`, a line each.

    A step of a tool is a call and what it returned; its members other than the output are the arguments. Steps have no call ids.
    """

    name = "windsurf"
    label = "Windsurf transcript"
    tested_with = "transcripts of 2026"
    hints = ("status",)
    certainty = 0.98
    carried_fields = frozenset(("acknowledgement_type",))

    def is_message(self, value: object) -> bool:
        kind = string_of(value, "type")
        return bool(kind) and isinstance(value, dict) and "status" in value and isinstance(value.get(kind), dict)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind = value["type"]
        step = inner(value, kind)
        if kind == "user_input":
            return [("user", [Text(string_of(step, "user_response"))])]
        if kind == "planner_response":
            thought, text = string_of(step, "thinking"), string_of(step, "response")
            return [(MODEL, [*([Thinking(thought)] if thought else []), *([Text(text)] if text or not thought else [])])]
        arguments = {key: item for key, item in step.items() if key not in _OUTPUTS}
        outputs = {key: step[key] for key in _OUTPUTS if step.get(key) is not None}
        is_error = bool(step.get("error")) or step.get("user_rejected") is True
        call = ToolCall("", kind, dump(arguments))
        if not outputs and value["status"] not in ("done", "error"):
            return [(MODEL, [call])]
        return [(MODEL, [call]), (TOOLS, [ToolResult("", kind, _output(outputs), is_error)])]


def _output(outputs: dict[str, Any]) -> str:
    """Return the only text that a tool returned, or its whole output as JSON."""
    texts = [item for item in outputs.values() if isinstance(item, str) and item]
    others = {key: item for key, item in outputs.items() if not isinstance(item, str) and item not in (0, False)}
    return texts[0] if len(texts) == 1 and not others else as_text(outputs or None)


_NOTICES = ("CHECKPOINT", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "ERROR_MESSAGE")
"""Types of steps with messages from the program to the model."""
_PLAN = "PLANNER_RESPONSE"


class Antigravity(EventLog):
    """Transcripts of Antigravity (`~/.gemini/antigravity…/brain/…/transcript.jsonl`): the steps of a session, a line each. The
    model plans and calls in `PLANNER_RESPONSE`; a step whose type is an action holds what it returned. Calls and results
    have no ids: they are paired in order. An action that no call precedes is shown as a call of that name.
    """

    name = "antigravity"
    label = "Antigravity transcript"
    tested_with = "transcripts of Antigravity and its CLI, 2026"
    hints = ("step_index",)
    roles = {**ROLES, **{word.lower(): HUMAN for word in _NOTICES}}
    carried_types = frozenset(("CONVERSATION_HISTORY", "KNOWLEDGE_ARTIFACTS"))
    carried_fields = frozenset(("source", "step_index", "truncated_fields"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "step_index" not in value or not string_of(value, "type"):
            return False
        return any(value.get(key) for key in ("content", "thinking", "tool_calls"))

    def counted(self, found: Sequence[Turn], waiting: int) -> Iterable[int]:
        """Count an action as a call if no call waits for it."""
        is_action = len(found) > 1 and found[0][0] == MODEL and found[1][0] == TOOLS
        return (1,) if is_action and waiting else range(len(found))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind, content = value["type"], string_of(value, "content")
        if string_of(value, "source").startswith("USER"):
            return [("user", [Text(content)])]
        if string_of(value, "source") == "SYSTEM":
            return [(kind.lower() if kind in _NOTICES else _NOTICES[1].lower(), [Text(content)])]
        thoughts = [Thinking(value["thinking"])] if string_of(value, "thinking") else []
        calls = [_call(item) for item in objects_of(value, "tool_calls")]
        if kind == _PLAN:
            return [(MODEL, [*thoughts, *([Text(content)] if content else []), *calls])]
        called = calls or [ToolCall("", kind.lower(), "{}")]
        is_error = string_of(value, "status") == "ERROR"
        return [(MODEL, [*thoughts, *called]), (TOOLS, [ToolResult(called[0].id, called[0].name, content, is_error)])]


def _call(item: dict[str, Any]) -> ToolCall:
    arguments = item["args"] if "args" in item else item.get("arguments")
    return ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(arguments))


_TAGS = {"User": "user", "Agent": "assistant"}


class Zed(ReadOnlyUnits):
    name = "zed"
    label = "Zed thread"
    tested_with = "source of Zed, threads 0.2 and 0.3"
    hints = ("segments", "User", "Agent")
    carried_fields = frozenset(("raw_input", "context"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        if isinstance(value.get("segments"), list):
            return bool(string_of(value, "role"))
        return len(value) == 1 and any(isinstance(inner(value, tag).get("content"), list) for tag in _TAGS)

    def is_carried(self, value: object) -> bool:
        return value == "Resume"

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if "segments" in value:
            return _segmented(value)
        ((tag, message),) = value.items()
        results = [_result(item) for item in inner(message, "tool_results").values()]
        return with_results(_TAGS[tag], [_part(item) for item in objects_of(message, "content")], results)


def _segmented(value: dict[str, Any]) -> list[Turn]:
    parts = [_segment(item) for item in objects_of(value, "segments")]
    calls = [ToolCall(string_of(item, "id"), string_of(item, "name"), dump(item.get("input"))) for item in objects_of(value, "tool_uses")]
    results = [_result(item) for item in objects_of(value, "tool_results")]
    said = (string_of(value, "role"), [*parts, *calls])
    answered: list[Turn] = [("tool", results)] if results else []
    return [said, *answered] if calls or not results else [*answered, *([said] if parts else [])]


def _segment(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "thinking":
        return Thinking(string_of(item, "text"), string_of(item, "signature"))
    return Text(string_of(item, "text")) if kind == "text" else Opaque(kind or "segment", dump(item))


def _part(item: dict[str, Any]) -> Part:
    kind = next(iter(item), "part")
    value = item.get(kind)
    if kind == "Text":
        return Text(as_text(value))
    if kind == "Thinking":
        return Thinking(string_of(value, "text"), string_of(value, "signature"))
    if kind == "RedactedThinking":
        return Thinking("", as_text(value), redacted=True)
    if kind == "ToolUse":
        return ToolCall(string_of(value, "id"), string_of(value, "name"), dump(inner(value, "input")))
    if kind == "Image":
        return Image(f"data:image/png;base64,{string_of(value, 'source')}")
    return Opaque(kind, dump(item))


def _result(item: Any) -> ToolResult:
    content = item.get("content") if isinstance(item, dict) else item
    is_error = isinstance(item, dict) and item.get("is_error") is True
    text = string_of(content, "Text") or as_text(content)
    return ToolResult(string_of(item, "tool_use_id"), string_of(item, "tool_name"), text, is_error)
