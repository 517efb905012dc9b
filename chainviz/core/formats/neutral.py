"""chainviz's own JSON: `{"role": "human", "parts": [{"type": "text", "text": …}]}`, every part flat.

It has `thinking {text, signature?, redacted?}`, and `is_error` and `media` of a tool response, so that every chain can be written
in it without loss. Parts of other types are stored unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    NEW,
    SYSTEM,
    TOOL,
    Binary,
    Fragment,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.units import ElementWriter, has_role, patched_parts, read_again, read_units
from chainviz.core.dialects.values import Speller, decode_base64, encode_base64, is_object, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.contract import Format, Style

_OWN = frozenset(("text", "image_url", "binary", "tool_call", "tool_response", "cache_control", "thinking"))
_AT: Pointer = ("parts",)
_FOREIGN_ROLES = ("user", "assistant", "model")
_STRANGE_ROLE = 0.3
"""The confidence if a role may belong to another format."""


class Neutral(Format):
    name = "neutral"
    label = "chainviz JSON"
    carries_parts = True
    tested_with = "this version"
    packs = True
    blocks_at = _AT
    user_tools = True
    hints = ("role", "parts")

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("role"), str) and isinstance(value.get("parts"), list)

    def confidence(self, sample: Sample) -> float:
        score = 0.0
        for value in sample.values:
            if isinstance(value, dict) and isinstance(value.get("text"), str) and "parts" not in value:
                return 0.0  # langchaingo's short form
            if not isinstance(value, dict) or not isinstance(value.get("parts"), list) or "role" not in value:
                continue
            if value["role"] in _FOREIGN_ROLES:
                return 0.0
            for item in value["parts"]:
                kind = item.get("type") if isinstance(item, dict) else None
                if not isinstance(kind, str) or isinstance(item.get(kind), dict):
                    return 0.0
                if kind in _OWN or kind == "opaque":
                    score = max(score, 0.95 if value["role"] in (SYSTEM, HUMAN, AI, TOOL) else _STRANGE_ROLE)
            if value["role"] in (SYSTEM, HUMAN, AI, TOOL):
                score = max(score, 0.4 if value["role"] in (HUMAN, AI) else _STRANGE_ROLE)
        return score

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, _message, _is_message)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return read_again(source, _message)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            speller = Speller(style.near, style.ascii)
            parts = speller.list([_element(part, speller) for part in message.parts])
            return (Fragment(NEW, "", speller.unit({"role": speller.quote(message.role), "parts": parts})),)
        first = message.source[0]
        old = self.message(message.role, (first,))
        if old == message:
            return (first,)
        speller = Speller(first.text, style.ascii)
        unit = json_edit.load_object(first.text)
        if message.role != old.role:
            unit.set("role", speller.quote(message.role))
        if message.parts != old.parts:
            raw = unit.raw("parts") if isinstance(unit.get("parts"), list) else "[]"
            unit.set("parts", patched_parts(raw, old.parts, message.parts, ElementWriter(_element, _changed), speller))
        return (Fragment(first.ordinal, first.lead, str(unit)),)

    def losses(self, message: Message) -> tuple[str, ...]:
        return ()


def _is_message(value: Any) -> bool:
    return has_role(value) and type(value.get("parts", [])) in (list, type(None))


def _message(value: dict[str, Any], text: str, source: tuple[Fragment, ...]) -> Message:
    return Message(value["role"], _parts(value, text), source=source)


def _parts(value: dict[str, Any], text: str) -> tuple[Part, ...]:
    return tuple([_part(item, text, at) for at, item in enumerate(value.get("parts") or ())])


def _part(item: Any, text: str, at: int) -> Part:
    kind = item.get("type") if type(item) is dict else None
    if kind == "text":
        return Text(string_of(item, "text"), _reasoning(item), origin=at)
    if kind == "tool_call":
        return ToolCall(
            string_of(item, "id"), string_of(item, "name"), string_of(item, "arguments"), string_of(item, "call_type", "function"),
            not item.get("no_function"), _reasoning(item), origin=at,
        )  # fmt: skip
    if kind == "tool_response":
        media = tuple(found for found in map(_media, item.get("media") or ()) if found is not None)
        is_error = item.get("is_error") is True
        return ToolResult(string_of(item, "tool_call_id"), string_of(item, "name"), string_of(item, "content"), is_error, media, origin=at)
    if kind == "thinking" and type(item.get("text")) is str:
        return Thinking(item["text"], string_of(item, "signature"), item.get("redacted") is True, origin=at)
    media_part = _media(item, at) if kind in ("image_url", "binary") else None
    if media_part is not None:
        return media_part
    return Opaque(kind if type(kind) is str else "part", json_edit.raw_at(text, ("parts", at)) or "", origin=at)


def _media(item: Any, at: int = -1) -> Image | Binary | None:
    if type(item) is not dict:
        return None
    if item.get("type") == "image_url":
        return Image(string_of(item, "url"), string_of(item, "detail"), origin=at)
    content = decode_base64(string_of(item, "data_b64"))
    return None if content is None else Binary(string_of(item, "mime"), content, origin=at)


def _reasoning(item: dict[str, Any]) -> Reasoning | None:
    found = item.get("reasoning")
    return Reasoning(string_of(found, "content"), string_of(found, "signature")) if type(found) is dict else None


def _members(part: Part, speller: Speller) -> dict[str, str]:
    """Return the members of a part as JSON text, without empty ones."""
    quote = speller.quote

    def some(text: str) -> str:
        return quote(text) if text else ""

    if isinstance(part, Text):
        members = {"type": '"text"', "text": quote(part.text), "reasoning": _reasoning_text(part.reasoning, speller)}
    elif isinstance(part, Image):
        members = {"type": '"image_url"', "url": quote(part.url), "detail": some(part.detail)}
    elif isinstance(part, Binary):
        members = {"type": '"binary"', "mime": quote(part.mime), "data_b64": quote(encode_base64(part.content))}
    elif isinstance(part, ToolCall):
        members = _call_members(part, speller)
    elif isinstance(part, ToolResult):
        members = {
            "type": '"tool_response"', "tool_call_id": quote(part.call_id), "name": quote(part.name),
            "content": quote(part.content), "is_error": "true" if part.is_error else "",
            "media": speller.list([_element(item, speller) for item in part.media]) if part.media else "",
        }  # fmt: skip
    elif isinstance(part, Thinking):
        members = {"type": '"thinking"', "text": quote(part.content), "signature": some(part.signature)}
        members["redacted"] = "true" if part.redacted else ""
    else:
        raise TypeError("an opaque part has no members")
    return {key: text for key, text in members.items() if text}


def _call_members(part: ToolCall, speller: Speller) -> dict[str, str]:
    members = {"type": '"tool_call"', "id": speller.quote(part.id)}
    if part.has_function:
        members |= {"name": speller.quote(part.name), "arguments": speller.quote(part.arguments)}
    else:
        members["no_function"] = "true"
    if part.type != "function":
        members["call_type"] = speller.quote(part.type)
    return {**members, "reasoning": _reasoning_text(part.reasoning, speller)}


def _reasoning_text(reasoning: Reasoning | None, speller: Speller) -> str:
    if reasoning is None:
        return ""
    return speller.object({"content": speller.quote(reasoning.content), "signature": speller.quote(reasoning.signature)})


def _element(part: Part, speller: Speller) -> str:
    if isinstance(part, Opaque):
        if is_object(part.text) and _stays(json_edit.parse(part.text)):
            return part.text
        return speller.object({"type": '"opaque"', "kind": speller.quote(part.kind), "text": speller.quote(part.text)})
    return speller.object(_members(part, speller))


def _stays(item: dict[str, Any]) -> bool:
    """Return True if a part is one of another format: it has a type that is not ours."""
    kind = string_of(item, "type")
    return bool(kind) and kind not in _OWN - {"cache_control"} and not isinstance(item.get(kind), dict)


def _changed(raw: str, old: Part, new: Part, speller: Speller) -> str:
    """Return the JSON of a changed part. Only members that differ are set; unknown members stay."""
    if isinstance(new, Opaque) or isinstance(old, Opaque):
        return _element(new, speller)
    before, after = _members(old, speller), _members(new, speller)
    unit = json_edit.load_object(raw)
    for key in before:
        if key not in after:
            unit.remove(key)
    for key, text in after.items():
        if before.get(key) != text:
            unit.set(key, text)
    return str(unit)
