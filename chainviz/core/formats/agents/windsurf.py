"""Transcripts of Windsurf and Devin Desktop: steps `{status, type, <type>: {…}}`, a line each.

A step of a tool is a call and what it returned; its members that are no output are the arguments. Steps have no call ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog
from chainviz.core.formats.read_only_units import Said, as_text, inner

_OUTPUTS = ("output", "content", "stdout", "stderr", "result", "results", "matches", "raw_output", "error", "exit_code", "user_rejected")
"""Members that tell what a tool returned."""


class Windsurf(EventLog):
    name = "windsurf"
    label = "Windsurf transcript"
    tested_with = "transcripts of 2026"
    hints = ("status",)
    certainty = 0.98
    carried_fields = frozenset(("acknowledgement_type",))

    def is_message(self, value: object) -> bool:
        kind = string_of(value, "type")
        return bool(kind) and isinstance(value, dict) and "status" in value and isinstance(value.get(kind), dict)

    def messages_in(self, value: Any) -> Sequence[Said]:
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
    """The one text that a tool returned, or all that is known as JSON."""
    texts = [item for item in outputs.values() if isinstance(item, str) and item]
    others = {key: item for key, item in outputs.items() if not isinstance(item, str) and item not in (0, False)}
    return texts[0] if len(texts) == 1 and not others else as_text(outputs or None)
