"""Sessions of Devin CLI: the messages of the document that is made of its database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only import MODEL, TOOLS, ReadOnlyUnits, Turn, as_text, call_arguments, inner


class Devin(ReadOnlyUnits):
    """Messages of Devin CLI: OpenAI's, with what the model thought in `thinking` and the tokens of a call in `metadata`."""

    name = "devin"
    label = "Devin CLI session"
    tested_with = "databases of Devin CLI, described by their readers"
    hints = ("role",)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and bool(string_of(value, "role")) and ("content" in value or "tool_calls" in value)

    def confidence(self, sample: Sample) -> float:
        return super().confidence(sample) if "main_chain_id" in sample.beside else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if value["role"] == TOOLS:
            return [(TOOLS, [ToolResult(string_of(value, "tool_call_id"), "", as_text(value.get("content")))])]
        parts: list[Part] = [Thinking(string_of(value, "thinking"))] if string_of(value, "thinking") else []
        parts += [Text(text)] if (text := as_text(value.get("content"))) else []
        for item in objects_of(value, "tool_calls"):
            call = inner(item, "function") or item
            given = call.get("arguments", call.get("input"))
            parts.append(ToolCall(string_of(item, "id"), string_of(call, "name"), call_arguments(given)))
        return [(MODEL if value["role"] == "agent" else value["role"], parts)]
