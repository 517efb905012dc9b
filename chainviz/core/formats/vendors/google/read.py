"""Gemini's contents: their parts, in camel case (REST) or snake case (Python SDK), with call ids or without.

A call without an id is answered by the next response of its name, and shows with an id made of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
    Image,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.dialects.units import DisplayIds
from chainviz.core.dialects.values import decode_base64
from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.blocks import Content, Run, user_runs

ROLES: dict[str, Role] = {"user": HUMAN, "model": AI, "assistant": AI, "function": TOOL, "system": SYSTEM}
"""The API takes the first two; the others occur."""
WORDS: dict[Role, str] = {HUMAN: "user", TOOL: "user", AI: "model", SYSTEM: "user"}
SNAKE = {
    "functionCall": "function_call", "functionResponse": "function_response", "inlineData": "inline_data",
    "fileData": "file_data", "executableCode": "executable_code", "codeExecutionResult": "code_execution_result",
    "toolCall": "tool_call", "toolResponse": "tool_response", "thoughtSignature": "thought_signature",
    "mimeType": "mime_type", "fileUri": "file_uri",
}  # fmt: skip
_FIELDS = (
    "text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode", "codeExecutionResult",
    "toolCall", "toolResponse",
)  # fmt: skip
"""A part has exactly one of these."""
_BESIDE = ("thought", "thoughtSignature", "videoMetadata", "video_metadata", "partMetadata", "mediaResolution", "media_resolution")
"""What a part has beside it."""
_URL_SAFE = str.maketrans("-_", "+/")
"""The alphabet of base64 in the Python SDK's dumps."""
_MADE_UP = re.compile(r"-[0-9]{13}-[0-9a-f]+")
"""What Gemini CLI puts behind the name of a tool for an id that the API did not give."""
UNCLEAR = "unclear part"
"""The kind of a part that has none or several of them."""


def key_of(item: dict[str, Any], name: str) -> str:
    """Return the item's spelling of a member's name; "" if it has no such member."""
    if item.get(name) is not None:
        return name
    snake = SNAKE.get(name, "")
    return snake if snake and item.get(snake) is not None else ""


def member(item: Any, name: str) -> Any:
    return item.get(key_of(item, name)) if type(item) is dict else None


def word_of(value: dict[str, Any]) -> str:
    """A content without a role is the user's."""
    word = value.get("role")
    return word if type(word) is str and word else "user"


def role_runs(value: dict[str, Any]) -> list[Run]:
    """The messages a content feeds: responses are a tool message, everything beside them is the user's."""
    role = ROLES.get(word_of(value), word_of(value))
    return user_runs(value.get("parts"), is_response) if role in (HUMAN, TOOL) else [(role, None)]


def is_response(item: Any) -> bool:
    return type(member(item, "functionResponse")) is dict


def read_parts(content: Content, role: Role) -> list[Part]:
    ids = display_ids(content.value) if type(content.value) is list else []
    return content.parts(
        lambda index, place, origin: _part(content.value[index], content.text, place, ids[index], origin), "parts"
    )


def display_ids(content: Sequence[Any]) -> list[str]:
    """Return the id of each call and response, made from its tool's name if it has none.
    Histories of Gemini CLI have ids on responses alone, which the program made of the name and the time.
    """
    shown = {"functionCall": DisplayIds(), "functionResponse": DisplayIds()}
    ids: list[str] = []
    for item in content:
        kind = next((kind for kind in shown if type(member(item, kind)) is dict), "")
        inner = member(item, kind) if kind else {}
        own, name = _word(inner, "id"), _word(inner, "name")
        if kind and (not own or _MADE_UP.fullmatch(own.removeprefix(name))):
            own = shown[kind].take(name)
        ids.append(own)
    return ids


def _word(item: Any, name: str) -> str:
    value = member(item, name)
    return value if type(value) is str else ""


def field_of(item: dict[str, Any]) -> str:
    """Return the one field that gives the kind of the part, in camel case; "" for none or several."""
    found = [name for name in _FIELDS if key_of(item, name)]
    return found[0] if len(found) == 1 else ""


def _part(item: Any, text: str, at: Pointer, shown: str, origin: int) -> Part:
    field = field_of(item) if type(item) is dict else ""
    inner = member(item, field)
    signature = _word(item, "thoughtSignature")
    if field == "text" and type(inner) is str:
        if item.get("thought") is True:
            return Thinking(inner, signature, origin=origin)
        return Text(inner, Reasoning(signature=signature) if signature else None, origin=origin)
    if field == "functionCall" and type(inner) is dict:
        raw = raw_at(text, (*at, key_of(item, field), "args")) if "args" in inner else ""
        reasoning = Reasoning(signature=signature) if signature else None
        return ToolCall(shown, _word(inner, "name"), raw or "", reasoning=reasoning, origin=origin)
    if field == "functionResponse" and type(inner) is dict:
        return read_response(inner, text, (*at, key_of(item, field)), shown, origin)
    media = read_media(item, origin) if field in ("inlineData", "fileData") else None
    return media or Opaque(field or _strange_field(item) or UNCLEAR, raw_at(text, at) or "", origin=origin)


def _strange_field(item: Any) -> str:
    """The first member of a part without any of its fields that the API does not know; "" for a part with several of them."""
    is_bare = type(item) is dict and not any(key_of(item, name) for name in _FIELDS)
    known = {*_FIELDS, *_BESIDE, *SNAKE.values()}
    return next((key for key, value in item.items() if key not in known and type(value) in (dict, str)), "") if is_bare else ""


def response_key(response: Any) -> str:
    """Return the only member of a response: `output` or `error`; "" if it has others."""
    if type(response) is not dict:
        return ""
    if set(response) <= {"output"} or set(response) <= {"error"}:
        return next(iter(response), "")
    return ""


def read_response(inner: dict[str, Any], text: str, at: Pointer, shown: str, origin: int) -> ToolResult:
    response = inner.get("response")
    key = response_key(response)
    said = response[key] if key and type(response) is dict else response
    place = (*at, "response", key) if key else (*at, "response")
    content = said if type(said) is str else "" if said is None else raw_at(text, place) or dump(said)
    parts = inner.get("parts")
    media = tuple(found for item in (parts if type(parts) is list else ()) if (found := read_media(item)) is not None)
    is_error = type(response) is dict and response.get("error") is not None
    return ToolResult(shown, _word(inner, "name"), content, is_error, media, origin=origin)


def read_media(item: Any, origin: int = -1) -> Image | Binary | None:
    """Read an image, or a file that carries its bytes; None for one that is only referred to."""
    data, file = member(item, "inlineData"), member(item, "fileData")
    if type(data) is dict:
        mime, content = _word(data, "mimeType"), _word(data, "data")
        if mime.startswith("image/"):
            return Image(f"data:{mime};base64,{content}", origin=origin)
        decoded = decode_base64(content) or decode_base64(content.translate(_URL_SAFE))
        return None if decoded is None else Binary(mime, decoded, origin=origin)
    if type(file) is dict and _word(file, "mimeType")[:6] in ("", "image/"):
        return Image(_word(file, "fileUri"), origin=origin)
    return None
