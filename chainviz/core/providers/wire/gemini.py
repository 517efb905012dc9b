"""The JSON of Gemini's contents (google/genai/types.py), in camel and in snake case: roles, and one data field a part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.providers.contract import WireFault
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.wire.message import Fault, in_blocks, kind_name, sent_value, unknown_members

REFERENCE = "ai.google.dev/api/generate-content"
ROLE = Rule("role-unknown", "error", "Please use a valid role: user, model.", REFERENCE)
PARTS = Rule("content-type", "error", "Invalid value at 'contents.parts'", REFERENCE)
NO_PARTS = Rule("content-missing", "error", "contents.parts must not be empty.", REFERENCE, ("drop-empty",))
NO_DATA = Rule(
    "part-empty", "error", "contents.parts.data: required oneof field 'data' must have one initialized field", REFERENCE
)
TWO_DATA = Rule(
    "part-twofold", "error", "Invalid value at 'contents.parts' (oneof), oneof field 'data' is already set.", REFERENCE
)
FIELD = Rule("field-type", "error", "Invalid value at 'contents.parts'", REFERENCE)

ROLES = ("user", "model", "function", None)
_DATA: dict[str, type] = {
    "text": str, "inline_data": dict, "file_data": dict, "function_call": dict, "function_response": dict,
    "executable_code": dict, "code_execution_result": dict, "tool_call": dict, "tool_response": dict,
}  # fmt: skip
_MODIFIERS = frozenset(("thought", "thought_signature", "video_metadata", "media_resolution", "part_metadata"))
KINDS = frozenset(
    ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result", "toolCall", "tool_call",
     "toolResponse", "tool_response", "fileData", "file_data")
)  # fmt: skip


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if isinstance(value, dict) and message.source[0].ordinal != SLOT:
        yield from in_blocks(message, _faults(value), "parts")


def _faults(value: dict[str, Any]) -> Iterator[Fault]:
    yield from unknown_members(value, ("role", "parts"))
    role = value.get("role")
    if role not in ROLES:
        yield ROLE, (), f"has the role “{str(role)[:40]}”"
    parts = value.get("parts")
    if not parts:
        yield NO_PARTS, (), "has no parts"
    elif not isinstance(parts, list):
        yield PARTS, (), f"has {kind_name(parts)} as parts"
    else:
        for index, part in enumerate(parts):
            yield from _part_faults(part, index)


def _part_faults(part: Any, index: int) -> Iterator[Fault]:
    place = ("parts", index)
    if not isinstance(part, dict):
        yield PARTS, place, f"has {kind_name(part)} among its parts"
        return
    fields = {_snake(key): value for key, value in part.items() if value is not None}
    data = [key for key in fields if key in _DATA]
    if not data and "thought_signature" not in fields:
        yield NO_DATA, place, "has a part without data"
    if len(data) > 1:
        yield TWO_DATA, place, f"has a part with {' and '.join(data)}"
    for key in data:
        if not isinstance(fields[key], _DATA[key]):
            yield FIELD, place, f"has {kind_name(fields[key])} as {key}"
    yield from unknown_members(fields, (*_DATA, *_MODIFIERS), place)


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
