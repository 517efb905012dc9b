"""OpenTelemetry GenAI: spans with lists of messages, and the events of older versions of the conventions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
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
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.dialects.leaf import spread
from chainviz.core.dialects.units import ElementWriter, patched_parts
from chainviz.core.dialects.values import (
    Speller,
    decode_base64,
    encode_base64,
    is_object,
    objects_of,
    reasoning_of,
    spelled_like_before,
    string_of,
    text_or_json,
)
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.contract import Format, Style
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, inner

ROLES: dict[str, Role] = {"system": SYSTEM, "developer": SYSTEM, "user": HUMAN, "assistant": AI, "tool": TOOL}
WORDS: dict[Role, str] = {SYSTEM: "system", HUMAN: "user", AI: "assistant", TOOL: "tool"}
INSTRUCTIONS, INPUT, OUTPUT = "gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages"
_AT: Pointer = ("parts",)
_RESULTS = ("response", "result")


class OTelGenAI(Format):
    """OpenTelemetry GenAI spans: `gen_ai.system_instructions`, `gen_ai.input.messages`, `gen_ai.output.messages`.

    The three attributes of a span make one chain, whether a span is plain JSON or OTLP, and whether an attribute holds a list
    or the list as a string. Messages are `{role, parts}` with parts `{type, content}`; system instructions are bare parts. A
    tool result lies under `response`, in older versions of the semantic conventions under `result`.
    """

    name = "otel_genai"
    label = "OpenTelemetry GenAI"
    tested_with = "semantic conventions 0.66b2"
    packs = True
    template = f'{{"{INPUT}": [\n]}}\n'
    blocks_at = _AT
    hints = ("parts", "content")
    sequences = (((INSTRUCTIONS,), (INPUT,), (OUTPUT,)),)

    def is_message(self, value: object) -> bool:
        if _is_instruction(value):
            return True
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            return False
        parts = value.get("parts")
        return isinstance(parts, list) and any(_is_part(part) for part in parts)

    def confidence(self, sample: Sample) -> float:
        seen = [value for value in sample.values if self.is_message(value)]
        if sample.key.startswith("gen_ai."):
            return 0.98 if seen else 0.0
        return 0.95 if any("role" in value for value in seen) else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            is_own = _is_instruction(unit.value) or (isinstance(unit.value, dict) and isinstance(unit.value.get("role"), str))
            yield self.message("", (unit.fragment(),)) if is_own else unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        text = source[0].text
        value = json_edit.parse(text)
        if "role" not in value:
            return Message(SYSTEM, (_part(value, text, (), 0),), source=source)
        word = value["role"]
        role = ROLES.get(word, word)
        parts = tuple(_part(item, text, ("parts", at), at) for at, item in enumerate(_list(value.get("parts"))))
        reason = value.get("finish_reason")
        label = "" if WORDS.get(role) == word else word
        return Message(role, parts, source=source, label=label, note=reason if isinstance(reason, str) else "")

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            return (Fragment(NEW, "", _new_unit(message, Speller(style.near, style.ascii))),)
        first = message.source[0]
        old = self.message(message.role, (first,))
        if old == message:
            return (first,)
        speller = Speller(first.text, style.ascii)
        if "role" not in json_edit.parse(first.text):
            only = message.parts[0] if len(message.parts) == 1 else None
            if message.role == SYSTEM and only is not None:
                text = _changed(first.text, old.parts[0], only, speller)
            else:
                text = _new_unit(message, speller)
            return (Fragment(first.ordinal, first.lead, text),)
        unit = json_edit.load_object(first.text)
        if message.role != old.role:
            unit.set("role", speller.quote(WORDS.get(message.role, message.role)))
        if message.parts != old.parts:
            raw = unit.raw("parts") if isinstance(unit.get("parts"), list) else "[]"
            unit.set("parts", patched_parts(raw, old.parts, message.parts, ElementWriter(_element, _changed), speller))
        return (Fragment(first.ordinal, first.lead, str(unit)),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if any(item.signature for item in reasoning_of(message)):
            lost.append("signatures of reasoning are left out")
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if any(part.is_error for part in results):
            lost.append("a result cannot be marked as an error")
        if any(part.name for part in results):
            lost.append("a result does not repeat its tool's name")
        if any(part.media for part in results):
            lost.append("images inside results are left out")
        if any(isinstance(part, Opaque) and not is_object(part.text) for part in message.parts):
            lost.append("parts of unknown kinds are left out")
        return tuple(lost)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_part(value: object) -> bool:
    """Return True for a part with its values where OpenTelemetry has them: other formats write `text` or nest the call."""
    if not isinstance(value, dict) or not isinstance(value.get("type"), str) or "text" in value:
        return False
    kind = value["type"]
    if kind == "tool_call":
        return "name" in value and "arguments" in value and "role" not in value
    if kind == "tool_call_response":
        return any(key in value for key in _RESULTS)
    return isinstance(value.get("content"), str) or isinstance(value.get("uri"), str)


def _is_instruction(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == {"type", "content"} and isinstance(value["content"], str)


def _part(item: Any, text: str, at: Pointer, origin: int) -> Part:
    kind = item.get("type") if isinstance(item, dict) else None
    found: Part | None = None
    if kind in ("text", "reasoning") and isinstance(item.get("content"), str):
        found = Text(item["content"], origin=origin) if kind == "text" else Thinking(item["content"], origin=origin)
    elif kind == "tool_call":
        arguments = text_or_json(item.get("arguments"), text, (*at, "arguments"))
        found = ToolCall(string_of(item, "id"), string_of(item, "name"), arguments, origin=origin)
    elif kind == "tool_call_response":
        key = next((key for key in _RESULTS if key in item), _RESULTS[0])
        found = ToolResult(string_of(item, "id"), "", text_or_json(item.get(key), text, (*at, key)), origin=origin)
    elif kind == "uri" and item.get("modality") == "image" and isinstance(item.get("uri"), str):
        found = Image(item["uri"], origin=origin)
    elif kind == "blob" and isinstance(item.get("content"), str) and isinstance(item.get("mime_type"), str):
        content = decode_base64(item["content"])
        found = None if content is None else Binary(item["mime_type"], content, origin=origin)
    raw = (json_edit.raw_at(text, at) if at else text) or ""
    return found or Opaque(kind if isinstance(kind, str) else "part", raw, origin=origin)


def _new_unit(message: Message, speller: Speller) -> str:
    parts = [each for part in message.parts for each in spread(part)]
    elements = [text for part in parts if (text := _element(part, speller))]
    role = speller.quote(WORDS.get(message.role, message.role))
    return speller.unit({"role": role, "parts": speller.list(elements)})


def _element(part: Part, speller: Speller) -> str | None:
    quote = speller.quote
    if isinstance(part, Text | Thinking):
        kind, content = ("text", part.text) if isinstance(part, Text) else ("reasoning", part.content)
        return speller.object({"type": quote(kind), "content": quote(content)})
    if isinstance(part, ToolCall):
        arguments = part.arguments if is_object(part.arguments) else quote(part.arguments)
        return speller.object({"type": '"tool_call"', "id": quote(part.id), "name": quote(part.name), "arguments": arguments})
    if isinstance(part, ToolResult):
        return speller.object({"type": '"tool_call_response"', "id": quote(part.call_id), "response": quote(part.content)})
    if isinstance(part, Image):
        return speller.object({"type": '"uri"', "modality": '"image"', "uri": quote(part.url)})
    if isinstance(part, Binary):
        modality = part.mime.partition("/")[0] or "file"
        members = {"modality": quote(modality), "mime_type": quote(part.mime), "content": quote(encode_base64(part.content))}
        return speller.object({"type": '"blob"', **members})
    return part.text if is_object(part.text) else None


def _changed(raw: str, old: Part, new: Part, speller: Speller) -> str:
    """Return the element with only its different leaves replaced."""
    if type(old) is not type(new) or isinstance(new, Opaque):
        return _element(new, speller) or raw
    unit = json_edit.load_object(raw)
    for key, (before, after) in _leaves(old, new, unit).items():
        if before != after:
            unit.set(key, spelled_like_before(after, unit.raw(key) if key in unit else "", speller))
    return str(unit)


def _leaves(old: Part, new: Part, unit: json_edit.Object) -> dict[str, tuple[str, str]]:
    if isinstance(old, Text) and isinstance(new, Text):
        return {"content": (old.text, new.text)}
    if isinstance(old, Thinking) and isinstance(new, Thinking):
        return {"content": (old.content, new.content)}
    if isinstance(old, ToolCall) and isinstance(new, ToolCall):
        return {"id": (old.id, new.id), "name": (old.name, new.name), "arguments": (old.arguments, new.arguments)}
    if isinstance(old, ToolResult) and isinstance(new, ToolResult):
        key = next((key for key in _RESULTS if key in unit), _RESULTS[0])
        return {"id": (old.call_id, new.call_id), key: (old.content, new.content)}
    if isinstance(old, Image) and isinstance(new, Image):
        return {"uri": (old.url, new.url)}
    if isinstance(old, Binary) and isinstance(new, Binary):
        content = (encode_base64(old.content), encode_base64(new.content))
        return {"mime_type": (old.mime, new.mime), "content": content}
    return {}


_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")} | {"gen_ai.choice": "assistant"}


class OTelEvents(ReadOnlyUnits):
    """Events of the OpenTelemetry GenAI conventions before version 1.37: `gen_ai.user.message`, `gen_ai.choice` and so on, as
    events of a span or as log records, in OTLP or as the SDKs print them; and spans and records of newer versions whose lists of
    messages are OTLP arrays.
    """

    name = "otel_events"
    label = "OpenTelemetry GenAI events"
    tested_with = "semantic conventions 1.28 to 1.36"
    hints = (*_ROLES, INPUT, OUTPUT)

    def is_message(self, value: object) -> bool:
        return _name(value) in _ROLES or bool(_arrays(value))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        name = _name(value)
        if name not in _ROLES:
            return [_turn(each) for each in _arrays(value)]
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


def _arrays(value: object) -> list[Any]:
    """Return the messages of a span or record, at least one list of which is an OTLP array; [] for any other."""
    listed = objects_of(value, "attributes") if isinstance(value, dict) else []
    own = [each for each in listed if string_of(each, "key") in (INSTRUCTIONS, INPUT, OUTPUT)]
    if not any("arrayValue" in inner(each, "value") for each in own):
        return []
    order = sorted(own, key=lambda each: (INSTRUCTIONS, INPUT, OUTPUT).index(each["key"]))
    return [message for each in order for message in _list(_decoded(_plain(each["value"]))) if isinstance(message, dict)]


def _turn(value: Any) -> Turn:
    message = OTelGenAI().message("", (Fragment(NEW, "", json.dumps(value)),))
    return message.role, message.parts


def _attributes(value: dict[str, Any]) -> dict[str, Any]:
    listed = objects_of(value, "attributes")
    return {string_of(each, "key"): _plain(each.get("value")) for each in listed} if listed else inner(value, "attributes")


def _plain(value: Any) -> Any:
    """Return an OTLP value as plain JSON; plain JSON is unchanged."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind == "kvlistValue":
        return {string_of(each, "key"): _plain(each.get("value")) for each in objects_of(held, "values")}
    if kind == "arrayValue":
        return [_plain(each) for each in objects_of(held, "values")]
    return held if kind in ("stringValue", "intValue", "doubleValue", "boolValue") else value


def _decoded(value: Any) -> Any:
    """Return the value that a string represents."""
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
