"""Check the JSON of messages of OpenAI's chat API (openai/types/chat/*_param.py) and of compatible APIs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from chainviz.core.chain.messages import PART_TYPES, Message
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.vendors.openai_form.read import COMMON_ROLES, LONGEST_TEXT, MOST_CALLS, is_usual, read_parts
from chainviz.core.providers.contract import NOT_UNDERSTOOD, UNKNOWN_MEMBER, UNUSUAL, WireFault
from chainviz.core.providers.request import as_sent
from chainviz.core.providers.rules import Rule
from chainviz.core.providers.wire import ADDRESS, BASE64, Fields, Misfit, Words, kind_name, misfits, sent_value

_PARTS = {
    "text": Fields({"text": str}),
    "refusal": Fields({"refusal": str}),
    "image_url": Fields({"image_url": Fields({"url": ADDRESS}, {"detail": Words(("auto", "low", "high", "original"))})}),
    "input_audio": Fields({"input_audio": Fields({"data": BASE64, "format": Words(("wav", "mp3"))})}),
    "file": Fields({"file": Fields({}, {"file_data": str, "file_id": str, "filename": str}, ("file_data", "file_id"))}),
}
_PARTS = {kind: form.beside({"type": str, "prompt_cache_breakpoint": dict}) for kind, form in _PARTS.items()}
"""The members of a content part of each type."""
_MESSAGE = Fields(
    {},
    {
        "name": str,
        "tool_call_id": str,
        "refusal": str,
        "annotations": list,
        "audio": Fields({"id": str}, {"data": str, "expires_at": int, "transcript": str}),
        "function_call": Fields({"name": str, "arguments": str}),
    },
)
"""The members of a message that no other function checks."""
_NO_CALL = {"name": "", "arguments": ""}
"""The call that some programs write in a message without a call."""
_CALLS = {
    "function": Fields({"id": str, "function": Fields({"name": str, "arguments": str})}, {"type": str}),
    "custom": Fields({"id": str, "custom": Fields({"name": str, "input": str})}, {"type": str}),
}
"""The members of a tool call of each type."""
_SPEAKER = re.compile(r"[^\s<|\\/>]+")


_COMMON = frozenset(("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal", "audio", "annotations"))
"""Members of a message that every API of this form accepts."""


@dataclass(frozen=True)
class ChatForm:
    """The messages that one API accepts, and the rule that each fault breaks."""

    parts: Mapping[str, frozenset[str]]
    """Accepted types of content parts by role. The parts of a role without an entry are not checked."""
    content_type: Rule
    content_missing: Rule
    part_type: Rule
    member: Rule
    value: Rule
    role: Rule
    empty_content: Rule | None = None
    empty_calls: Rule | None = None
    """The rule for empty lists; None if the API accepts them."""
    null_calls: Rule | None = None
    too_many_calls: Rule | None = None
    too_long: Rule | None = None
    arguments: Rule | None = None
    """The rule for arguments that are not a string; None if the API accepts any JSON."""
    call_type: Rule | None = None
    """The rule for a tool call without `type`; None if the API reads it as a function."""
    speaker: Rule | None = None
    """The rule for a speaker's name with white space or one of <|\\/>; None if the API accepts any."""
    fields: frozenset[str] = frozenset()
    """Accepted members of a message, in addition to the common ones."""
    other_roles: frozenset[str] = frozenset()
    """Accepted roles, in addition to those of `parts`."""
    short_parts: bool = False
    """The API accepts short parts: a string instead of the part's object, or a file id beside the type."""

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules that a message of this API can break."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Rule))

    def __call__(self, fault: WireFault) -> Rule | None:
        match fault.name:
            case "field":
                return None if fault.detail in self.fields else UNKNOWN_MEMBER
            case "part":
                return self._part(*fault.detail.split(":", 1))
            case "short-part":
                return None if self.short_parts else self.value
            case "role":
                return None if fault.detail in self.parts or fault.detail in self.other_roles else self.role
            case name:
                rule: Rule | None = getattr(self, name)
                return rule

    def _part(self, role: str, kind: str) -> Rule | None:
        allowed = self.parts.get(role)
        if allowed is None or kind in allowed:
            return None
        return self.part_type if kind in PART_TYPES else NOT_UNDERSTOOD


def unusual_chat(message: Message) -> Iterator[WireFault]:
    """Yield something if the JSON of a message may have a fault for one of the APIs of this form."""
    if not (message.source and message.source[0].is_usual):
        yield UNUSUAL


def check_chat(message: Message) -> Iterator[WireFault]:
    """Yield the faults of a message, named like the members of ChatForm, or field, part (detail `role:type`) and short-part."""
    stored = sent_value(message)
    value = as_sent(stored) if isinstance(stored, dict) and not is_usual(stored) else None
    if value is None:
        return
    places: list[Pointer] | None = None
    for name, place, what, detail in _faults(value):
        if places is None:
            places = read_parts(message.role, stored, message.source[0].text)[1]
        yield WireFault(name, places.index(place) if place in places else None, what, detail)


Named = tuple[str, Pointer, str, str]
"""A fault's name, its place in the message, what the message does, and the detail."""


def _faults(value: dict[str, Any]) -> Iterator[Named]:
    for key in value.keys() - _COMMON:
        yield "field", (key,), f"has the field “{key[:40]}”, which is not checked", key
    role, name = value.get("role"), value.get("name")
    if role not in COMMON_ROLES:
        yield "role", (), f"has the role “{str(role)[:40]}”", str(role)
    yield from _faults_of_content(value, role)
    if "tool_calls" in value:
        yield from _call_faults(value["tool_calls"])
    if role == "tool" and not isinstance(value.get("tool_call_id"), str):
        yield "member", (), "is a tool message without tool_call_id", ""
    else:
        known = {key: each for key, each in value.items() if key in _MESSAGE.optional and each != _NO_CALL}
        yield from _with_names(misfits(known, _MESSAGE) if known else (), (), "has")
    if isinstance(name, str) and role in ("system", "developer", "user", "assistant") and not _SPEAKER.fullmatch(name):
        yield "speaker", (), f"has the name “{name[:40]}”, which is not allowed", ""


def _faults_of_content(value: dict[str, Any], role: Any) -> Iterator[Named]:
    content = value.get("content")
    if content is None:
        if role not in ("assistant", "function"):
            yield "content_missing", (), f"has {'null as' if 'content' in value else 'no'} content", ""
    elif isinstance(content, list):
        yield from _content_faults(content, str(role))
    elif not isinstance(content, str):
        yield "content_type", ("content",), f"has {kind_name(content)} as content", ""
    elif len(content) > LONGEST_TEXT:
        yield "too_long", ("content",), f"has a text of {len(content):,} characters", ""


def _with_names(found: Iterable[Misfit], place: Pointer, does: str) -> Iterator[Named]:
    for misfit in found:
        if misfit.how == "unknown":
            key = str(misfit.place[-1]) if misfit.place else ""
            yield "field", place, f"{does} {misfit.what}, which is not checked", key
        else:
            name = "member" if misfit.how == "missing" else "value"
            yield "arguments" if misfit.place[-1:] == ("arguments",) else name, place, f"{does} {misfit.what}", ""


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
            yield "part", place, f"contains a part of the kind “{kind[:40]}”", f"{role}:{kind}"
        if _is_short(item, kind):
            yield "short-part", place, f"contains a part of the kind {kind} without a valid “{kind}”", ""
        elif kind in _PARTS:
            yield from _with_names(misfits(item, _PARTS[kind]), place, f"contains a part of the kind {kind} with")


def _is_short(item: Mapping[str, Any], kind: str) -> bool:
    return kind in ("image_url", "input_audio", "file") and (isinstance(item.get(kind), str) or (kind not in item and "file_id" in item))


def _call_faults(calls: Any) -> Iterator[Named]:
    if calls is None or calls == []:
        what = "null" if calls is None else "an empty list"
        yield "null_calls" if calls is None else "empty_calls", (), f"has {what} as tool_calls", ""
        return
    if not isinstance(calls, list):
        yield "member", (), f"has {kind_name(calls)} as tool_calls", ""
        return
    if len(calls) > MOST_CALLS:
        yield "too_many_calls", (), f"calls {len(calls)} tools at once", ""
    for index, item in enumerate(calls):
        place: Pointer = ("tool_calls", index)
        if not isinstance(item, dict):
            yield "member", place, f"has {kind_name(item)} as a tool call", ""
            continue
        kind = item.get("type")
        if not isinstance(kind, str):
            yield "call_type", place, "has a tool call without a type", ""
            kind = "custom" if "custom" in item else "function"
        elif kind not in _CALLS:
            yield "field", place, f"has a tool call of the type “{kind[:40]}”, which is not checked", "type"
            continue
        found = list(misfits(item, _CALLS[kind]))
        refused = [misfit for misfit in found if misfit.how != "unknown"]
        yield from _with_names(refused or found, place, "has a tool call with")
