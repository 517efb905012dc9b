"""Transcripts of Antigravity (`~/.gemini/antigravity…/brain/…/transcript.jsonl`): the steps of a session, a line each.

The model plans and calls in `PLANNER_RESPONSE`; a step whose type is an action holds what it returned. Calls and results have no
ids: they are paired in order. An action that no call precedes is shown as a call of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from chainviz.core.chain.messages import HUMAN, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog, call_arguments
from chainviz.core.formats.read_only import ROLES
from chainviz.core.formats.read_only_units import Said

_NOTICES = ("CHECKPOINT", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "ERROR_MESSAGE")
"""Types of steps in which the program tells the model something."""
_PLAN = "PLANNER_RESPONSE"


class Antigravity(EventLog):
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

    def counted(self, found: Sequence[Said], waiting: int) -> Iterable[int]:
        """An action is a call of its own where none waits for it."""
        is_action = len(found) > 1 and found[0][0] == MODEL and found[1][0] == TOOLS
        return (1,) if is_action and waiting else range(len(found))

    def messages_in(self, value: Any) -> Sequence[Said]:
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
