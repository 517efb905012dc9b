"""What `droid exec --output-format stream-json` prints: texts, calls, results and the final text of an answer, a record each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Message, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.units import Unit
from chainviz.core.formats.event_log import MODEL, TOOLS, EventLog, call_arguments
from chainviz.core.formats.read_only_units import Said, as_text

_TEXTS = {"message": ("role", "text"), "reasoning": ("text",), "tool_call": ("toolName",), "completion": ("finalText",)}
"""The types of records that say something, and the strings that each has; a result has a value or an error."""
_IDS = ("toolCallId", "id", "toolUseId")


class DroidStream(EventLog):
    name = "droid_stream"
    label = "Factory Droid stream-json"
    tested_with = "records of droid exec, 2025"
    hints = ("toolName", "finalText", "text", "value")
    certainty = 0.98
    carried_types = frozenset(("system", "completion"))

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or ("session_id" not in value and "sessionId" not in value):
            return False
        kind = string_of(value, "type")
        if kind == "tool_result":
            return "value" in value or "error" in value
        return kind in _TEXTS and all(isinstance(value.get(key), str) for key in _TEXTS[kind])

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        """The final text mostly repeats the last text of the model: then it is carried."""
        said_last = ""
        kept: list[Unit] = []
        repeated: list[Unit] = []
        for unit in units:
            if self.is_message(unit.value) and string_of(unit.value, "type") == "message":
                said_last = unit.value["text"] if unit.value["role"] == MODEL else ""
            is_copy = string_of(unit.value, "type") == "completion" and string_of(unit.value, "finalText") == said_last
            (repeated if is_copy else kept).append(unit)
        yield from super().read(kept)
        yield from repeated

    def messages_in(self, value: Any) -> Sequence[Said]:
        kind = value["type"]
        if kind == "message":
            return [(value["role"], [Text(value["text"])])]
        if kind == "tool_call":
            return [(MODEL, [ToolCall(_id(value), value["toolName"], call_arguments(value.get("parameters")))])]
        if kind == "reasoning":
            return [(MODEL, [Thinking(value["text"])])]
        if kind == "completion":
            return [(MODEL, [Text(value["finalText"])])]
        is_error = value.get("isError") is True or bool(value.get("error"))
        return [(TOOLS, [ToolResult(_id(value), string_of(value, "toolName"), _output(value), is_error)])]


def _id(value: dict[str, Any]) -> str:
    return next((found for key in _IDS if (found := string_of(value, key))), "")


def _output(value: dict[str, Any]) -> str:
    """What a tool returned, or why it failed."""
    error = value.get("error")
    return as_text(value["value"] if value.get("value") is not None else string_of(error, "message") or error)
