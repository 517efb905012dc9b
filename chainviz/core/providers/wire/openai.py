"""The JSON of messages in the form that OpenAI's chat API began (openai/types/chat/*_param.py); others speak it too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import Message
from chainviz.core.dialects.chat.openai_read import call_holder, read_parts
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.wire.message import FOREIGN_KINDS, kind_name, sent_value

_MEMBERS: dict[str, tuple[str, type]] = {
    "text": ("text", str),
    "refusal": ("refusal", str),
    "image_url": ("image_url", dict),
    "input_audio": ("input_audio", dict),
    "file": ("file", dict),
}
"""The member that a content part of each type must have."""


_COMMON = frozenset(
    ("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations")
)
"""Members of a message that every API with this form takes."""


_CALL_TYPES = frozenset(("function", "custom"))


@dataclass(frozen=True)
class ChatForm:
    """What one API takes of the common form, and the rule that each fault breaks."""

    parts: Mapping[str, frozenset[str]]
    """Types of content parts by role; a role without an entry is not looked into."""
    content_type: Rule
    content_missing: Rule
    part_type: Rule
    member: Rule
    empty_content: Rule | None = None
    empty_calls: Rule | None = None
    """For empty lists; None where they are taken."""
    arguments: Rule | None = None
    """For arguments that are not a text; None where any JSON is taken."""
    call_type: Rule | None = None
    """For a tool call without `type`; None where it is taken as a function."""
    fields: frozenset[str] = frozenset()
    """Members of a message that are understood, besides the common ones."""
    image_texts: bool = False
    """Whether image_url may be a plain text."""

    def __call__(self, fault: WireFault) -> Rule | None:
        match fault.name:
            case "field":
                return None if fault.detail in self.fields else NOT_UNDERSTOOD
            case "part":
                return self._part(*fault.detail.split(":", 1))
            case "image-text":
                return None if self.image_texts else self.member
            case name:
                rule: Rule | None = getattr(self, name)
                return rule

    def _part(self, role: str, kind: str) -> Rule | None:
        allowed = self.parts.get(role)
        if allowed is None or kind in allowed:
            return None
        return self.part_type if kind in FOREIGN_KINDS else NOT_UNDERSTOOD


def check_chat(message: Message) -> Iterator[WireFault]:
    """Faults named as the members of ChatForm are, and: field, part (detail `role:type`), image-text."""
    value = sent_value(message)
    if not isinstance(value, dict):
        return
    places: list[Pointer] | None = None
    for name, place, what, detail in _faults(value):
        if places is None:
            places = read_parts(message.role, value, message.source[0].text)[1]
        yield WireFault(name, places.index(place) if place in places else None, what, detail)


Named = tuple[str, Pointer, str, str]
"""A fault's name, its place in the message, what the message does, and the detail."""


def _faults(value: dict[str, Any]) -> Iterator[Named]:
    for key in value.keys() - _COMMON:
        yield "field", (key,), f"has the field “{key[:40]}”, which is not checked", key
    role, content = value.get("role"), value.get("content")
    if content is None:
        if role != "assistant":
            yield "content_missing", (), f"has {'null as' if 'content' in value else 'no'} content", ""
    elif isinstance(content, list):
        yield from _content_faults(content, str(role))
    elif not isinstance(content, str):
        yield "content_type", ("content",), f"has {kind_name(content)} as content", ""
    if "tool_calls" in value:
        yield from _call_faults(value["tool_calls"])
    if role == "tool" and not isinstance(value.get("tool_call_id"), str):
        yield "member", (), "is a tool message without tool_call_id", ""


def _content_faults(content: list[Any], role: str) -> Iterator[Named]:
    if not content:
        yield "empty_content", (), "has an empty list as content", ""
    for index, item in enumerate(content):
        place: Pointer = ("content", index)
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(kind, str):
            yield "member", place, f"has {kind_name(item)} without a type in its content", ""
            continue
        if kind != "text":
            yield "part", place, f"holds a part of the kind “{kind[:40]}”", f"{role}:{kind}"
        key, type_ = _MEMBERS.get(kind, ("type", str))
        if not isinstance(item.get(key), type_):
            name = "image-text" if kind == "image_url" and isinstance(item.get(key), str) else "member"
            yield name, place, f"holds a part of the kind {kind} without a proper “{key}”", ""


def _call_faults(calls: Any) -> Iterator[Named]:
    if not isinstance(calls, list) or not calls:
        yield "empty_calls", (), f"has {'an empty list' if calls == [] else kind_name(calls)} as tool_calls", ""
        return
    for index, item in enumerate(calls):
        place: Pointer = ("tool_calls", index)
        holder = call_holder(item) if isinstance(item, dict) else ()
        if not holder or not isinstance(item.get("id"), str):
            yield "member", place, f"has a tool call without {'an id' if holder else 'a function'}", ""
            continue
        kind = item.get("type")
        if not isinstance(kind, str):
            yield "call_type", place, "has a tool call without a type", ""
        elif kind not in _CALL_TYPES:
            yield "field", place, f"has a tool call of the type “{kind[:40]}”, which is not checked", "type"
        inner = item[holder[0]]
        key = "input" if holder == ("custom",) else "arguments"
        if not isinstance(inner.get("name"), str) or key not in inner:
            missing = key if isinstance(inner.get("name"), str) else "a name"
            yield "member", place, f"has a tool call without {missing}", ""
        elif not isinstance(inner[key], str):
            yield "arguments", place, f"has a tool call with {kind_name(inner[key])} as {key}", ""
