"""Runs as SWE-agent's web demo keeps them: `history` is a list of thoughts, actions and what editor and terminal showed.

An action is a command as text; it is shown as a call `action` with the command as its argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Text, ToolCall, ToolResult
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog
from chainviz.core.formats.read_only_units import Said

_OUTPUTS = ("output_terminal", "output_editor")
_OWN = {"thought": ("thought",), "action": ("action",), "output": _OUTPUTS}
"""The types of steps, and members of which each has at least one."""


class SWEAgentWeb(EventLog):
    name = "swe_agent_web"
    label = "SWE-agent web trajectory"
    tested_with = "runs of the web demo, 2024"
    hints = ("thought", "action", *_OUTPUTS)
    certainty = 0.98
    carried_fields = frozenset(("open_file", "open_file_start_line", "working_dir", "narration"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        return any(isinstance(value.get(key), str) for key in _OWN.get(string_of(value, "type"), ()))

    def messages_in(self, value: Any) -> Sequence[Said]:
        kind = value["type"]
        if kind == "thought":
            return [(MODEL, [Text(value["thought"])])]
        if kind == "action":
            return [(MODEL, [ToolCall("", "action", dump({"command": value["action"]}))])]
        shown = [text for key in _OUTPUTS if (text := string_of(value, key))]
        return [(TOOLS, [ToolResult("", "action", "\n".join(shown))])]
