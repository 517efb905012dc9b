"""Events of the OpenTelemetry GenAI conventions before version 1.37: `gen_ai.user.message`, `gen_ai.choice` and so on, as
events of a span or as log records, in OTLP or as the SDKs print them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner

_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")} | {"gen_ai.choice": "assistant"}


class OTelEvents(ReadOnlyUnits):
    name = "otel_events"
    label = "OpenTelemetry GenAI events"
    tested_with = "semantic conventions 1.28 to 1.36"
    hints = tuple(_ROLES)

    def is_message(self, value: object) -> bool:
        return _name(value) in _ROLES

    def messages_in(self, value: Any) -> Sequence[Said]:
        name = _name(value)
        body = _plain(value.get("body"))
        told = body if isinstance(body, dict) else _attributes(value)
        message = _decoded(told.get("message")) if name == "gen_ai.choice" else told
        message = message if isinstance(message, dict) else told
        role, content = _ROLES[name], as_text(message.get("content"))
        if role == "tool":
            return [(role, [ToolResult(string_of(message, "id"), string_of(message, "name"), content)])]
        texts: list[Part] = [Text(content)] if content else []
        return [(string_of(message, "role") or role, [*texts, *_calls(message)])]


def _name(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    own = next((value[key] for key in ("name", "eventName", "event_name") if string_of(value, key) in _ROLES), "")
    return own or (string_of(_attributes(value), "event.name") if "body" in value else "")


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    listed = objects_of(value, "attributes")
    return {string_of(each, "key"): _plain(each.get("value")) for each in listed} if listed else inner(value, "attributes")


def _plain(value: Any) -> Any:
    """An OTLP value as JSON has it; what is JSON already stays."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind == "kvlistValue":
        return {string_of(each, "key"): _plain(each.get("value")) for each in objects_of(held, "values")}
    if kind == "arrayValue":
        return [_plain(each) for each in objects_of(held, "values")]
    return held if kind in ("stringValue", "intValue", "doubleValue", "boolValue") else value


def _decoded(value: Any) -> Any:
    """The value that a string spells."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _calls(message: dict[str, Any]) -> Iterator[ToolCall]:
    calls = _decoded(message.get("tool_calls"))
    for call in objects_of({"calls": calls}, "calls"):
        function = inner(call, "function") or call
        yield ToolCall(string_of(call, "id"), string_of(function, "name"), as_text(function.get("arguments")))
