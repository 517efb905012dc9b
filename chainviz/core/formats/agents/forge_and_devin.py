"""Forge and Devin CLI, which keep their sessions in databases: the messages of a session's document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.units import Sample
from chainviz.core.formats.read_only import MODEL, TOOLS, ReadOnlyUnits, Turn, as_text, call_arguments, inner, unknown

_KINDS = ("text", "tool", "image", "document")
_TEXTS = ("text", "markdown")
"""Kinds of a tool's values that are a text."""


class Forge(ReadOnlyUnits):
    """Messages of Forge: `{"message": {"text": …}}`, or, in older versions, without `message` around them."""

    name = "forge"
    label = "Forge conversation"
    tested_with = "source of Forge, records of conversations"
    hints = ("message", "text", "tool")
    carried_fields = frozenset(("raw_content",))

    def is_message(self, value: object) -> bool:
        found = _entry(value)
        kind = next(iter(found), "")
        return len(found) == 1 and kind in _KINDS and ("role" in inner(found, "text") or bool(inner(found, kind)))

    def confidence(self, sample: Sample) -> float:
        return self.certainty if any(_is_forge(value) for value in sample.values) else 0.0

    def messages_in(self, value: Any) -> Sequence[Turn]:
        found = _entry(value)
        kind, content = next(iter(found.items()))
        if kind == "text":
            return [(string_of(content, "role").lower(), list(_parts(content)))]
        if kind == "tool":
            output = inner(content, "output")
            texts = [as_text(next((item[key] for key in _TEXTS if key in item), item)) for item in objects_of(output, "values")]
            return [(TOOLS, [ToolResult(_id(content), string_of(content, "name"), "\n".join(texts), output.get("is_error") is True)])]
        return [("user", [Image(string_of(content, "url")) if kind == "image" else unknown({"type": kind, **content})])]


def _entry(value: Any) -> dict[str, Any]:
    found = inner(value, "message") or value
    return found if isinstance(found, dict) else {}


def _is_forge(value: Any) -> bool:
    found = _entry(value)
    return string_of(inner(found, "text"), "role") in ("System", "User", "Assistant") or "values" in inner(inner(found, "tool"), "output")


def _parts(content: dict[str, Any]) -> Iterator[Part]:
    for item in objects_of(content, "reasoning_details"):
        yield Thinking(string_of(item, "text"), string_of(item, "signature"))
    if string_of(content, "content"):
        yield Text(content["content"])
    for item in objects_of(content, "tool_calls"):
        yield ToolCall(_id(item), string_of(item, "name"), call_arguments(item.get("arguments")))


def _id(item: dict[str, Any]) -> str:
    return string_of(item, "call_id")


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
