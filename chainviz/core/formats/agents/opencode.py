"""Sessions of opencode: what `opencode export` writes, and the events that `opencode run --format json` prints.

A message is `{info, parts}`; a tool part is a call and, once it has ended, its result. An event holds one part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, in_steps, inner, unknown

_EVENTS = ("text", "reasoning", "tool_use", "step_start", "step_finish")
_MARKS = ("step-start", "step-finish", "snapshot", "patch")
"""Parts that say how far the agent was, nothing more."""


class Opencode(ReadOnlyUnits):
    name = "opencode"
    label = "opencode session"
    tested_with = "types of opencode 0.5 to 1.1"
    hints = ("parts", "part")
    carried_types = frozenset(("step_start", "step_finish", "error"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        if string_of(value, "type") in _EVENTS and isinstance(value.get("part"), dict):
            return "sessionID" in value
        return bool(string_of(inner(value, "info"), "role")) and isinstance(value.get("parts"), list)

    def messages_in(self, value: Any) -> Sequence[Said]:
        parts = [value["part"]] if "part" in value else objects_of(value, "parts")
        said = [(_part(part), _result(part)) for part in parts if string_of(part, "type") not in _MARKS]
        return in_steps(string_of(inner(value, "info"), "role") or "assistant", said) if said else ()


def _part(part: dict[str, Any]) -> Part:
    kind = string_of(part, "type")
    if kind == "text":
        return Text(string_of(part, "text"))
    if kind == "reasoning":
        signature = next((string_of(each, "signature") for each in inner(part, "metadata").values() if string_of(each, "signature")), "")
        return Thinking(string_of(part, "text"), signature)
    if kind == "tool":
        return ToolCall(string_of(part, "callID"), string_of(part, "tool"), dump(inner(part, "state").get("input") or {}))
    if kind == "file" and string_of(part, "mime").startswith("image/"):
        return Image(string_of(part, "url"))
    return unknown(part)


def _result(part: dict[str, Any]) -> ToolResult | None:
    """None of a call that has not ended, and of every other part."""
    state = inner(part, "state")
    status = string_of(state, "status")
    if string_of(part, "type") != "tool" or status not in ("completed", "error"):
        return None
    content = as_text(state.get("error" if status == "error" else "output"))
    return ToolResult(string_of(part, "callID"), string_of(part, "tool"), content, status == "error")
