"""Conversations that LibreChat exports: a list of messages, or a tree in which each message holds those that answer it.

Of a tree the chain follows the last answer of each message; of a list with several answers to one message, the way to its
last message. A message of the model may hold several steps: texts, thoughts, and calls with what they returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.units import Unit
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, in_steps, inner, unknown


class LibreChat(ReadOnlyUnits):
    name = "librechat"
    label = "LibreChat export"
    tested_with = "source of LibreChat 0.7, 0.8"
    hints = ("isCreatedByUser",)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("isCreatedByUser"), bool) and "messageId" in value

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        units = list(units)
        others = _other_branches([unit.value for unit in units if self.is_message(unit.value)])
        for unit in units:
            if self.is_message(unit.value) and string_of(unit.value, "messageId") in others:
                yield unit
            else:
                yield from super().read((unit,))

    def is_carried(self, value: object) -> bool:
        """A message of another branch."""
        return self.is_message(value)

    def messages_in(self, value: Any) -> Sequence[Said]:
        found: list[Said] = []
        while value:
            found += _said(value)
            children = objects_of(value, "children")
            value = children[-1] if children and self.is_message(children[-1]) else None
        return found


def _other_branches(messages: Sequence[dict[str, Any]]) -> set[str]:
    """The ids of the messages that do not lead to the last one; none of a list in which every message has one answer."""
    parents = {string_of(each, "messageId"): string_of(each, "parentMessageId") for each in messages}
    named = [*filter(None, parents.values())]
    if len(set(named)) == len(named):
        return set()
    others, at = {*parents} - {""}, string_of(messages[-1], "messageId")
    while at in others:
        others.remove(at)
        at = parents[at]
    return others


def _said(message: dict[str, Any]) -> Sequence[Said]:
    role = "user" if message["isCreatedByUser"] else "assistant"
    blocks = objects_of(message, "content")
    return in_steps(role, map(_block, blocks)) if blocks else [(role, [*_text(message)])]


def _text(message: dict[str, Any]) -> Iterator[Part]:
    if string_of(message, "text"):
        yield Text(message["text"])


def _block(item: dict[str, Any]) -> tuple[Part, ToolResult | None]:
    kind = string_of(item, "type")
    if kind in ("text", "error"):
        return Text(as_text(inner(item, kind).get("value") or item.get(kind))), None
    if kind == "think":
        return Thinking(as_text(item.get("think"))), None
    call = inner(item, "tool_call")
    if kind != "tool_call" or not string_of(call, "name"):
        return unknown(item), None
    id, name, output = string_of(call, "id"), call["name"], call.get("output")
    return ToolCall(id, name, as_text(call.get("args"))), None if output is None else ToolResult(id, name, as_text(output))
