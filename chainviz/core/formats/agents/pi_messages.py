"""Messages of pi and OpenClaw without the entries of a session around them: in records of other programs (OpenClaw's `agent.end`,
telemetry), and in the events that `pi --mode json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.event_log import call_arguments
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, text_part, unknown

_STARTED = ("message_start", "message_update")
_EVENTS = (*_STARTED, "message_end", "turn_end")
_WORDS = {"user": "user", "assistant": "assistant", "toolResult": "tool"}


class PiMessages(ReadOnlyUnits):
    name = "pi_messages"
    label = "pi / OpenClaw messages"
    tested_with = "OpenClaw's agent.end and pi's agent core, 2026"
    hints: tuple[str, ...] = ("role",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or string_of(value, "role") not in _WORDS:
            return False
        return isinstance(value.get("content"), str | list) and "messages" not in value

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(self.is_message(value) and _is_own(value) for value in sample.values) else 0.0

    def messages_in(self, value: Any) -> Sequence[Said]:
        role, content = value["role"], value["content"]
        if role == "toolResult":
            name, is_error = string_of(value, "toolName"), value.get("isError") is True
            return [("tool", [ToolResult(string_of(value, "toolCallId"), name, as_text(content), is_error)])]
        parts = [Text(content)] if isinstance(content, str) else map(_part, objects_of(value, "content"))
        return [(_WORDS[role], list(parts))]


class PiEvents(PiMessages):
    name = "pi_events"
    label = "pi events (pi --mode json)"
    tested_with = "documentation of pi's JSON mode, 2026"
    hints = ("message", "messages", "toolResults")
    carried_types = frozenset(
        ("session", "agent_start", "agent_end", "turn_start", "turn_end", "message_start", "message_update", "tool_execution_start",
         "tool_execution_update", "tool_execution_end", "auto_compaction_start", "auto_compaction_end", "auto_retry_start",
         "auto_retry_end", "queue_update")
    )  # fmt: skip

    def is_message(self, value: object) -> bool:
        """A message, or an event that repeats messages: the last state of one that is not complete is its message."""
        kind = string_of(value, "type")
        if kind == "agent_end":
            return isinstance(value, dict) and isinstance(value.get("messages"), list)
        return kind in _EVENTS and super().is_message(inner(value, "message"))

    def confidence(self, sample: Sample) -> float:
        return 0.985 if any(map(self.is_message, sample.values)) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        started: Unit | None = None
        for unit in units:
            kind = string_of(unit.value, "type")
            is_open = kind in _STARTED and self.is_message(unit.value)
            if started is not None and (is_open or kind == "message_end"):
                yield started
                started = None
            if is_open:
                started = unit
            elif kind == "message_end":
                yield from super().read([unit])
            else:
                yield unit
        yield from super().read([started] if started is not None else [])

    def messages_in(self, value: Any) -> Sequence[Said]:
        return super().messages_in(value["message"]) if "message" in value else ()


def _is_own(value: dict[str, Any]) -> bool:
    if value["role"] == "toolResult":
        return "toolCallId" in value
    is_answer = value["role"] == "assistant" and "api" in value and "stopReason" in value
    return is_answer or any(string_of(item, "type") == "toolCall" and "arguments" in item for item in objects_of(value, "content"))


def _part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "type")
    if kind == "text":
        return text_part(item)
    if kind == "thinking":
        return Thinking(string_of(item, "thinking"), string_of(item, "thinkingSignature"), item.get("redacted") is True)
    if kind == "toolCall":
        return ToolCall(string_of(item, "id"), string_of(item, "name"), call_arguments(item.get("arguments")))
    if kind == "image" and string_of(item, "data"):
        return Image(f"data:{string_of(item, 'mimeType')};base64,{item['data']}")
    return unknown(item)
