"""langchaingo's JSON, in which PentAGI keeps its chains: `{role, text}` for one plain text, else `{role, parts}`.

New messages follow its Go writer: the short form exactly where one text without reasoning is all there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import (
    NEW,
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
from chainviz.core.dialects.units import ElementWriter, patched_parts, read_again, read_units
from chainviz.core.dialects.values import Speller, decode_base64, encode_base64, is_object, objects_of, reasoning_of, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import Object
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.contract import Format, Style

_ROLES = frozenset(("system", "human", "ai", "tool", "generic", "function"))
_NESTED = frozenset(("tool_call", "tool_response", "binary", "image_url"))
_AT: Pointer = ("parts",)


class LangchainGo(Format):
    name = "langchaingo"
    label = "langchaingo / PentAGI"
    tested_with = "langchaingo 0.1.14, PentAGI"
    packs = True
    blocks_at = _AT
    names_results = True
    hints = ("role",)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and isinstance(value.get("role"), str) and ("text" in value or "parts" in value)

    def confidence(self, sample: Sample) -> float:
        score = 0.0
        for value in sample.values:
            if not self.is_message(value) or value["role"] not in _ROLES or "content" in value:
                continue
            parts = value.get("parts")
            items = [item for item in parts if isinstance(item, dict)] if isinstance(parts, list) else []
            for item in items:
                kind = item.get("type")
                if isinstance(kind, str) and kind in _NESTED:
                    score = 0.97 if isinstance(item.get(kind), dict) else 0.0
                    if not score:
                        return 0.0
            if isinstance(value.get("text"), str):
                score = max(score, 0.9)
            elif any(item.get("type") == "text" for item in items):
                score = max(score, 0.5)
        return score

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, _message)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return read_again(source, _message)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            speller = Speller(style.near, style.ascii)
            members = {"role": speller.quote(message.role)}
            only = _plain(message.parts)
            if only is not None:
                members["text"] = speller.quote(only.text)
            else:
                members["parts"] = _list(message.parts, speller)
            return (Fragment(NEW, "", speller.unit(members)),)
        first = message.source[0]
        old = self.message(message.role, (first,))
        if old == message:
            return (first,)
        speller = Speller(first.text, style.ascii)
        unit = json_edit.load_object(first.text)
        if message.role != old.role:
            unit.set("role", speller.quote(message.role))
        if message.parts != old.parts:
            _set_parts(unit, old.parts, message.parts, speller)
        return (Fragment(first.ordinal, first.lead, str(unit)),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if any(isinstance(part, ToolResult) and part.is_error for part in message.parts):
            lost.append("a result cannot be marked as an error")
        if any(isinstance(part, ToolResult) and part.media for part in message.parts):
            lost.append("images inside results are left out")
        if any(isinstance(part, Opaque) and not (_is_own(part) and is_object(part.text)) for part in message.parts):
            lost.append("parts of unknown kinds are left out")
        if any(isinstance(part, Thinking) for part in message.parts) and reasoning_of(message):
            lost.append("reasoning without a text or a call is attached to the next part")
        return tuple(lost)


def _message(value: dict[str, Any], text: str, source: tuple[Fragment, ...]) -> Message:
    return Message(value["role"], _parts(value, text), source=source)


def _plain(parts: tuple[Part, ...]) -> Text | None:
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Text) and (only.reasoning is None or only.reasoning.is_empty) else None


def _set_parts(unit: Object, old: tuple[Part, ...], new: tuple[Part, ...], speller: Speller) -> None:
    if isinstance(unit.get("parts"), list):
        raw = patched_parts(unit.raw("parts"), old, _hung(new), ElementWriter(_element, _changed), speller)
        unit.set("parts", raw)
        return
    only = _plain(new)
    if "text" in unit and only is not None:
        unit.set("text", speller.quote(only.text))
    elif "text" in unit:
        unit.rename("text", "parts", _list(new, speller))
    else:
        unit.set("parts", _list(new, speller))


def _list(parts: tuple[Part, ...], speller: Speller) -> str:
    made = [_element(part, speller) for part in _hung(parts)]
    return speller.list([text for text in made if text is not None])


def _hung(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Reasoning in a place of its own hangs on the part after it; at the end on an empty text."""
    result: list[Part] = []
    waiting: Reasoning | None = None
    for part in parts:
        if isinstance(part, Thinking):
            before = waiting.content + "\n\n" if waiting and waiting.content and part.content else ""
            waiting = Reasoning(before + part.content, part.signature)
        elif waiting is not None and isinstance(part, Text) and part.reasoning is None:
            result.append(Text(part.text, waiting, origin=part.origin))
            waiting = None
        elif waiting is not None and isinstance(part, ToolCall) and part.reasoning is None:
            result.append(ToolCall(part.id, part.name, part.arguments, part.type, part.has_function, waiting, origin=part.origin))
            waiting = None
        else:
            result.append(part)
    if waiting is not None:
        result.append(Text("", waiting))
    return tuple(result)


def _parts(value: dict[str, Any], text: str) -> tuple[Part, ...]:
    parts = value.get("parts")
    if type(parts) is list:
        return tuple([_part(item, text, at) for at, item in enumerate(parts)])
    return (Text(value["text"], origin=0),) if type(value.get("text")) is str else ()


def _part(item: Any, text: str, at: int) -> Part:
    kind = item.get("type", "text") if type(item) is dict else None
    inner = item.get(kind) if type(item) is dict and type(kind) is str else None
    if kind == "text" and type(inner) is str:
        return Text(inner, _reasoning(item), origin=at)
    if type(inner) is dict:
        if kind == "image_url":
            return Image(string_of(inner, "url"), string_of(inner, "detail"), origin=at)
        if kind == "tool_call":
            function = inner.get("function")
            return ToolCall(
                string_of(inner, "id"), string_of(function, "name"), string_of(function, "arguments"),
                string_of(inner, "type"), type(function) is dict, _reasoning(inner), origin=at,
            )  # fmt: skip
        if kind == "tool_response":
            return ToolResult(string_of(inner, "tool_call_id"), string_of(inner, "name"), string_of(inner, "content"), origin=at)
        content = decode_base64(string_of(inner, "data")) if kind == "binary" else None
        if content is not None:
            return Binary(string_of(inner, "mime_type"), content, origin=at)
    return Opaque(kind if type(kind) is str else "part", json_edit.raw_at(text, ("parts", at)) or "", origin=at)


def _reasoning(item: dict[str, Any]) -> Reasoning | None:
    """Return the reasoning; the text of its blocks counts if it has no content of its own."""
    found = item.get("reasoning")
    if type(found) is not dict:
        return None
    content, signature = string_of(found, "content"), string_of(found, "signature")
    blocks = objects_of(found, "blocks")
    content = content or "\n\n".join(filter(None, [string_of(block, "text") for block in blocks]))
    signature = signature or next(filter(None, [string_of(block, "signature") for block in blocks]), "")
    return Reasoning(content, signature)


def _reasoning_text(reasoning: Reasoning, speller: Speller) -> str:
    members = {"content": reasoning.content, "signature": reasoning.signature}
    return speller.object({key: speller.quote(text) for key, text in members.items() if text})


def _is_own(part: Opaque) -> bool:
    """Kinds that Go would refuse to read are not written; a cache mark is known to some of its versions."""
    return part.kind in ("cache_control", "part", "text", "tool_call", "tool_response", "binary", "image_url")


def _element(part: Part, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Text):
        members = {"type": '"text"', "text": quote(part.text)}
        if part.reasoning is not None and not part.reasoning.is_empty:
            members["reasoning"] = _reasoning_text(part.reasoning, speller)
        return speller.object(members)
    if isinstance(part, Image):
        inner = {"url": quote(part.url)} | ({"detail": quote(part.detail)} if part.detail else {})
        return speller.object({"type": '"image_url"', "image_url": speller.object(inner)})
    if isinstance(part, Binary):
        inner = {"data": quote(encode_base64(part.content)), "mime_type": quote(part.mime)}
        return speller.object({"type": '"binary"', "binary": speller.object(inner)})
    if isinstance(part, ToolCall):
        function = speller.object({"name": quote(part.name), "arguments": quote(part.arguments)})
        inner = {"function": function if part.has_function else "null", "id": quote(part.id), "type": quote(part.type)}
        if part.reasoning is not None and not part.reasoning.is_empty:
            inner["reasoning"] = _reasoning_text(part.reasoning, speller)
        return speller.object({"type": '"tool_call"', "tool_call": speller.object(inner)})
    if isinstance(part, ToolResult):
        inner = {"tool_call_id": quote(part.call_id), "name": quote(part.name), "content": quote(part.content)}
        return speller.object({"type": '"tool_response"', "tool_response": speller.object(inner)})
    if isinstance(part, Opaque) and _is_own(part) and is_object(part.text):
        return part.text
    return None


def _changed(raw: str, old: Part, new: Part, speller: Speller) -> str:
    """Return the element with only its different leaves replaced."""
    unit = json_edit.load_object(raw)
    if isinstance(new, Text) and isinstance(old, Text):
        if new.text != old.text:
            unit.set("text", speller.quote(new.text))
        _change_reasoning(unit, old.reasoning, new.reasoning, speller)
    elif isinstance(new, Image) and isinstance(old, Image):
        _leaves(unit, "image_url", {"url": (old.url, new.url), "detail": (old.detail, new.detail)}, speller)
    elif isinstance(new, Binary) and isinstance(old, Binary):
        content = (encode_base64(old.content), encode_base64(new.content))
        _leaves(unit, "binary", {"data": content, "mime_type": (old.mime, new.mime)}, speller)
    elif isinstance(new, ToolCall) and isinstance(old, ToolCall):
        inner = _leaves(unit, "tool_call", {"id": (old.id, new.id), "type": (old.type, new.type)}, speller)
        if old.has_function:
            _leaves(inner, "function", {"name": (old.name, new.name), "arguments": (old.arguments, new.arguments)}, speller)
        _change_reasoning(inner, old.reasoning, new.reasoning, speller)
    elif isinstance(new, ToolResult) and isinstance(old, ToolResult):
        leaves = {
            "tool_call_id": (old.call_id, new.call_id), "name": (old.name, new.name), "content": (old.content, new.content),
        }  # fmt: skip
        _leaves(unit, "tool_response", leaves, speller)
    else:
        return _element(new, speller) or raw
    return str(unit)


def _leaves(unit: Object, key: str, leaves: dict[str, tuple[str, str]], speller: Speller) -> Object:
    inner = unit.child(key)
    assert isinstance(inner, Object)
    for name, (old, new) in leaves.items():
        if old != new:
            inner.set(name, speller.quote(new))
    return inner


def _change_reasoning(holder: Object, old: Reasoning | None, new: Reasoning | None, speller: Speller) -> None:
    if new == old:
        return
    if new is None or new.is_empty:
        holder.remove("reasoning")
    elif "reasoning" not in holder or holder.get("reasoning").get("blocks"):
        # blocks repeat the text: a changed reasoning is written plainly
        holder.set("reasoning", _reasoning_text(new, speller))
    else:
        before = old or Reasoning()
        leaves = {"content": (before.content, new.content), "signature": (before.signature, new.signature)}
        _leaves(holder, "reasoning", leaves, speller)
