"""Conversations of LM Studio (`~/.lmstudio/conversations/….conversation.json`): a message keeps all its versions.

The selected version counts; the others stay as they are. An answer is a list of steps, of which content blocks hold texts,
thoughts, calls and results; the others say what the application showed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from chainviz.core.chain.messages import Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, attachment, inner, unknown


class LMStudio(ReadOnlyUnits):
    name = "lm_studio"
    label = "LM Studio conversation"
    tested_with = "descriptions of conversations, source of importers"
    slot_key = "systemPrompt"
    hints = ("versions",)
    carried_fields = frozenset(("debugInfo", "prefix", "suffix", "style", "genInfo", "toolStatus", "tokensCount", "currentlySelected"))
    known_kinds = frozenset(("attachment",))

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and "currentlySelected" in value and any(map(_role, objects_of(value, "versions")))

    def spoken(self, value: Any) -> Any:
        """The version of the message that is selected."""
        place = value.get("currentlySelected")
        chosen = [each for number, each in enumerate(value.get("versions", ())) if number == place]
        return {**value, "versions": chosen}

    def messages_in(self, value: Any) -> Sequence[Said]:
        version = _selected(value)
        role = _role(version)
        if not role:
            return ()
        steps = objects_of(version, "steps") if "steps" in version else [version]
        parts = _named([part for step in steps for part in _parts(step)])
        groups = groupby(parts, key=lambda part: isinstance(part, ToolResult))
        return [("tool" if is_result else role, [*parts]) for is_result, parts in groups] or [(role, [])]


def _role(version: Any) -> str:
    return string_of(version, "role")


def _selected(value: dict[str, Any]) -> dict[str, Any]:
    versions, at = value["versions"], value["currentlySelected"]
    chosen = versions[at] if type(at) is int and 0 <= at < len(versions) else None
    return chosen if isinstance(chosen, dict) else {}


def _parts(step: dict[str, Any]) -> Iterator[Part]:
    is_thought = string_of(inner(step, "style"), "type") == "thinking"
    for item in objects_of(step, "content"):
        kind = string_of(item, "type")
        if kind == "text":
            text = string_of(item, "text")
            yield Thinking(text) if is_thought else Text(text)
        elif kind == "toolCallRequest":
            arguments = item.get("parameters", item.get("arguments"))
            yield ToolCall(_call_id(item), string_of(item, "name"), as_text(arguments))
        elif kind == "toolCallResult":
            yield ToolResult(_call_id(item), string_of(item, "name"), as_text(item.get("content")))
        else:
            yield attachment(item) if kind == "file" else unknown(item)


def _named(parts: Sequence[Part]) -> Iterator[Part]:
    """Results with the name of the tool, which only their calls have."""
    names = {part.id: part.name for part in parts if isinstance(part, ToolCall)}
    for part in parts:
        yield replace(part, name=part.name or names.get(part.call_id, "")) if isinstance(part, ToolResult) else part


def _call_id(item: dict[str, Any]) -> str:
    """The model's id of the call; older files number the calls."""
    number = item.get("callId")
    return string_of(item, "toolCallRequestId") or (str(number) if type(number) is int else "")
