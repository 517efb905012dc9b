"""Conversations of Forge, which keeps each as one document in a row of its database: a text, a tool's result or an image a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Fragment,
    Image,
    Message,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.leaf import Host, Leaf, Located, as_flag, as_json
from chainviz.core.dialects.losses import TEXTS_JOIN, Room, has_several_texts, losses
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import parse, raw_at
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.contract import Style
from chainviz.core.formats.leaf_format import LeafFormat, Run, with_one_text
from chainviz.core.formats.read_only import inner

_ROLES: dict[str, Role] = {"System": SYSTEM, "User": HUMAN, "Assistant": AI}
_WORDS = {role: word for word, role in _ROLES.items()}
_KINDS = ("text", "tool", "image", "document")
_TEXTS = ("text", "markdown")
"""Kinds of a tool's values that are a text; the second is of older versions."""
_VALUES: Pointer = ("tool", "output", "values")
_ROOM = Room(
    frozenset((*_WORDS, TOOL)), frozenset(("document",)), result_media=False, free_arguments=False, images=False, files=False,
    calls_anywhere=False,
)  # fmt: skip


class Forge(LeafFormat):
    name = "forge"
    label = "Forge conversation"
    tested_with = "source of Forge, 2026"
    template = '{"messages": [\n]}\n'
    blocks_at: Pointer = ("message", "text", "tool_calls")
    names_results = any_near = True
    hints = ("message", "text", "tool")
    known_kinds = frozenset(("document",))
    carried_fields = frozenset(("raw_content",))

    def is_message(self, value: object) -> bool:
        found = _entry(value)
        kinds = [kind for kind in found if kind in _KINDS]
        inside = found[kinds[0]] if len(kinds) == 1 else None
        return isinstance(inside, dict) and (kinds[0] != "text" or "role" in inside)

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(_is_certain(_entry(value)) for value in sample.values) else 0.0

    def runs(self, value: Any) -> Sequence[Run]:
        if not self.is_message(value):
            return ()
        found = _entry(value)
        role = string_of(inner(found, "text"), "role")
        return ((TOOL if "tool" in found else _ROLES.get(role, role) if "text" in found else HUMAN, None),)

    def locate(self, value: Any, text: str, run: Run) -> list[Located]:
        at: Pointer = ("message",) if "message" in value else ()
        kind, content = next((kind, content) for kind, content in _entry(value).items() if kind in _KINDS)
        if kind == "text":
            return _located(content, text, (*at, "text"))
        if kind == "tool":
            return [_result(content, at)]
        part = Image(string_of(content, "url")) if kind == "image" else Opaque(kind, raw_at(text, (*at, kind)) or "")
        return [Located(part, (*at, kind))]

    def home(self, part: Part, host: Host) -> Pointer:
        at = ("message", "text") if "message" in host.value else ("text",)
        return (*at, {Text: "content", ToolCall: "tool_calls"}.get(type(part), "reasoning_details"))

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        if isinstance(part, ToolCall):
            names = {"name": speller.quote(part.name), "call_id": speller.quote(part.id)}
            return [speller.object({**names, "arguments": as_json(part.arguments, "", speller)})]
        if isinstance(part, Thinking):
            signed = {"signature": speller.quote(part.signature)} if part.signature else {}
            return [speller.object({"text": speller.quote(part.content), **signed})]
        return []

    def skeleton(self, message: Message, style: Style, speller: Speller) -> str:
        if message.role == TOOL:
            result = next(part for part in message.parts if isinstance(part, ToolResult))
            output = {"is_error": as_flag(result.is_error, "", speller), "values": _as_values(result.content, "[]", speller)}
            names = {"name": speller.quote(result.name), "call_id": speller.quote(result.call_id)}
            return speller.unit({"message": speller.object({"tool": speller.object({**names, "output": speller.object(output)})})})
        members = {"role": speller.quote(_WORDS.get(message.role, "User")), "content": '""'}
        if message.role == AI:
            members |= {"reasoning_details": "[]", "tool_calls": "[]"}
        return speller.unit({"message": speller.object({"text": speller.object(members)})})

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        return super().write(with_one_text(message), style)

    def losses(self, message: Message) -> tuple[str, ...]:
        is_empty = len(message.parts) > 1 and any(isinstance(part, Text) and not part.text for part in message.parts)
        empty = ("an empty text is left out",) if is_empty else ()
        return (*losses(message, _ROOM), *empty, *((TEXTS_JOIN,) if has_several_texts(message.parts) else ()))


def _entry(value: Any) -> dict[str, Any]:
    """Return the message: `{"text": …}`, which older versions keep without `message` around it."""
    found = inner(value, "message") or value
    return found if isinstance(found, dict) else {}


def _is_certain(found: dict[str, Any]) -> bool:
    return string_of(inner(found, "text"), "role") in _ROLES or "values" in inner(inner(found, "tool"), "output")


def _located(content: dict[str, Any], text: str, at: Pointer) -> list[Located]:
    found: list[Located] = []
    for place, item in enumerate(objects_of(content, "reasoning_details")):
        own = (*at, "reasoning_details", place)
        leaves = (Leaf("content", (*own, "text")), Leaf("signature", (*own, "signature")))
        found.append(Located(Thinking(string_of(item, "text"), string_of(item, "signature")), own, leaves))
    if string_of(content, "content") or not (found or objects_of(content, "tool_calls")):
        found.append(Located(Text(string_of(content, "content")), (*at, "content"), (Leaf("text", (*at, "content")),)))
    for place, item in enumerate(objects_of(content, "tool_calls")):
        own = (*at, "tool_calls", place)
        names = (Leaf("id", (*own, "call_id")), Leaf("name", (*own, "name")), Leaf("arguments", (*own, "arguments"), as_json))
        given = item.get("arguments")
        arguments = given if isinstance(given, str) else raw_at(text, (*own, "arguments")) or ""
        found.append(Located(ToolCall(string_of(item, "call_id"), string_of(item, "name"), arguments), own, names))
    return found


def _result(content: dict[str, Any], at: Pointer) -> Located:
    output = inner(content, "output")
    texts = [text for item in objects_of(output, "values") for key in _TEXTS if (text := string_of(item, key))]
    leaves = (
        Leaf("call_id", (*at, "tool", "call_id")),
        Leaf("name", (*at, "tool", "name")),
        Leaf("is_error", (*at, "tool", "output", "is_error"), as_flag),
        Leaf("content", (*at, *_VALUES), _as_values),
    )
    is_error = output.get("is_error") is True
    return Located(ToolResult(string_of(content, "call_id"), string_of(content, "name"), "\n".join(texts), is_error), (), leaves)


def _as_values(value: Any, raw: str, speller: Speller) -> str:
    """Return the values of a tool with one text in place of all their texts."""
    kept = [place for place, item in enumerate(parse(raw or "[]")) if not any(string_of(item, key) for key in _TEXTS)]
    return speller.list([speller.object({"text": speller.quote(value)}), *(raw_at(raw, (place,)) or "" for place in kept)])
