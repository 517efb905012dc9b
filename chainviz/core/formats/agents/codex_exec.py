"""What `codex exec --json` prints: the items of a thread, each once it began and once it ended. The prompt is not among them.

A command, an edit of files and a call of an MCP server are calls with their results. Notices of the program are carried.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.blocks.block_units import value_at
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog
from chainviz.core.formats.read_only_units import Said, as_text

_STATES = ("item.started", "item.updated", "item.completed")
_ARGUMENTS = {"command_execution": ("command",), "file_change": ("changes",), "mcp_tool_call": ("server", "arguments")}
"""Items that are calls, and the members that say of what."""


class CodexExec(EventLog):
    name = "codex_exec"
    label = "codex exec --json"
    tested_with = "events of Codex 0.171"
    hints = ("item",)
    known_kinds = frozenset(("web_search", "todo_list"))
    carried_types = frozenset(("thread.started", "turn.started", "turn.completed", "turn.failed", "error"))

    def is_message(self, value: object) -> bool:
        item = value.get("item") if isinstance(value, dict) else None
        return isinstance(item, dict) and string_of(value, "type") in _STATES and bool(string_of(item, "id") and _kind(item))

    def is_carried(self, value: object) -> bool:
        item = value.get("item") if isinstance(value, dict) else None
        is_notice = isinstance(item, dict) and _kind(item) == "error"
        return super().is_carried(value) or is_notice or string_of(value, "type") in _STATES[:2]

    def is_piece(self, value: Any) -> bool:
        """An item that began is shown where it never ended."""
        return string_of(value, "type") in _STATES[:2]

    def messages_in(self, value: Any) -> Sequence[Said]:
        item = value["item"]
        kind = _kind(item)
        if kind == "error":
            return ()
        if kind not in _ARGUMENTS:
            return [(MODEL, [_part(item, kind)])]
        name = string_of(item, "tool") or kind
        arguments = {key: item[key] for key in _ARGUMENTS[kind] if key in item}
        called: Said = (MODEL, [ToolCall(item["id"], name, dump(arguments))])
        if value["type"] != "item.completed":
            return [called]
        is_error = item.get("exit_code") not in (0, None) or string_of(item, "status") == "failed"
        return [called, (TOOLS, [ToolResult(item["id"], name, _output(item), is_error)])]


def _kind(item: dict[str, Any]) -> str:
    return string_of(item, "type") or string_of(item, "item_type")


def _part(item: dict[str, Any], kind: str) -> Part:
    if kind in ("agent_message", "assistant_message") and type(item.get("text")) is str:
        return Text(item["text"])
    if kind == "reasoning" and type(item.get("text")) is str:
        return Thinking(item["text"])
    return Opaque(kind, dump(item))


def _output(item: dict[str, Any]) -> str:
    """What a tool returned or why it failed; its state where no more is recorded."""
    if type(item.get("aggregated_output")) is str:
        return str(item["aggregated_output"])
    result = value_at(item, ("result", "content")) or item.get("result")
    error = string_of(item.get("error"), "message")
    return error or (as_text(result) if result else string_of(item, "status"))
