"""The JSON of Gemini's contents (google/genai/types.py), in camel and in snake case: roles, and one data field a part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.providers.contract import WireFault
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.wire.forms import BASE64, Fields, Form, Spelled, faults_of, misfits
from chainviz.core.providers.wire.message import Fault, in_blocks, kind_name, sent_value, unknown_members

REFERENCE = "ai.google.dev/api/generate-content"
gemini_rule = partial(Rule, models=ALL_MODELS, since="2024-05", checked="2026-11-23")
ROLE = gemini_rule("role-unknown", "error", "Please use a valid role: user, model.", REFERENCE)
PARTS = gemini_rule("content-type", "error", "Invalid value at 'contents.parts'", REFERENCE)
NO_PARTS = gemini_rule("content-missing", "error", "contents.parts must not be empty.", REFERENCE, ("drop-empty",))
NO_DATA = gemini_rule(
    "part-empty", "error", "contents.parts.data: required oneof field 'data' must have one initialized field", REFERENCE
)
TWO_DATA = gemini_rule(
    "part-twofold", "error", "Invalid value at 'contents.parts' (oneof), oneof field 'data' is already set.", REFERENCE
)
NO_NAME = gemini_rule(
    "result-name", "error",
    "GenerateContentRequest.contents.parts.function_response.name: Name cannot be empty.",
    REFERENCE, ("name-result",),
)  # fmt: skip
FIELD = gemini_rule("field-type", "error", "Invalid value at 'contents.parts'", REFERENCE)

RULES = (ROLE, PARTS, NO_PARTS, NO_DATA, TWO_DATA, NO_NAME, FIELD)
ROLES = ("user", "model", "function", None)
_DATA: dict[str, Form] = {
    "text": str,
    "inline_data": Fields({"mime_type": str, "data": BASE64}, {"display_name": str}),
    "file_data": Fields({"file_uri": str}, {"mime_type": str, "display_name": str}),
    "function_call": Fields({"name": str}, {"id": str, "args": dict, "partial_args": list, "will_continue": bool}),
    "function_response": Fields(
        {"name": str}, {"id": str, "response": dict, "parts": list, "scheduling": str, "will_continue": bool}
    ),
    "executable_code": Fields({"language": str, "code": str}, {"id": str}),
    "code_execution_result": Fields({"outcome": str}, {"output": str, "id": str}),
    "tool_call": dict,
    "tool_response": dict,
}
_SIGNATURE = Spelled(re.compile(r"[A-Za-z0-9+/_=\s-]*"), "base64")
_MODIFIERS: dict[str, Form] = {
    "thought": bool, "thought_signature": _SIGNATURE, "video_metadata": dict, "media_resolution": object, "part_metadata": dict,
}  # fmt: skip
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
    fields = _snake_keys(part)
    data = [key for key in fields if key in _DATA]
    if not data and "thought_signature" not in fields:
        yield NO_DATA, place, "has a part without data"
    if len(data) > 1:
        yield TWO_DATA, place, f"has a part with {' and '.join(data)}"
        return
    response = fields.get("function_response")
    if isinstance(response, dict) and response.get("name") == "":
        yield NO_NAME, place, "has a function response without a name"
    inner = {key: _snake_keys(value) if isinstance(value, dict) else value for key, value in fields.items()}
    yield from faults_of(misfits(inner, Fields({}, {**_DATA, **_MODIFIERS}), place), FIELD, FIELD, "a part")


def _snake_keys(value: dict[str, Any]) -> dict[str, Any]:
    """In snake case, without those whose value is null."""
    return {_snake(key): each for key, each in value.items() if each is not None}


def _snake(key: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in key)
