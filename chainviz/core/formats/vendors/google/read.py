"""Read the parts of Gemini's contents, in camel case (REST) or snake case (Python SDK).

A call may have no id. Then the next response of the same name answers it, and both are shown with an id made from the name.
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
)
from chainviz.core.dialects.units import DisplayIds
from chainviz.core.dialects.values import decode_base64
from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.blocks import Content, Run, user_runs

ROLES: dict[str, Role] = {"user": HUMAN, "model": AI, "assistant": AI, "function": TOOL, "system": SYSTEM}
"""Roles by their names in lower case. The API accepts the first two, in upper case as well; the others occur in files."""
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
"""The members with the data of a part. A valid part has exactly one of them."""
_BESIDE = ("thought", "thoughtSignature", "videoMetadata", "video_metadata", "partMetadata", "mediaResolution", "media_resolution")
"""The other members of a part."""
_URL_SAFE = str.maketrans("-_", "+/")
"""Translates the base64 alphabet of the Python SDK's dumps."""
_MADE_UP = re.compile(r"-[0-9]{13}-[0-9a-f]+")
"""The suffix that Gemini CLI adds to a tool's name to make an id, if the API gave none."""
UNCLEAR = "unclear part"
"""The kind of a part with no data or several."""


def key_of(item: dict[str, Any], name: str) -> str:
    """Return the item's spelling of a member's name; "" if it has no such member."""
    if item.get(name) is not None:
        return name
    snake = SNAKE.get(name, "")
    return snake if snake and item.get(snake) is not None else ""


def member(item: Any, name: str) -> Any:
    return item.get(key_of(item, name)) if type(item) is dict else None


def word_of(value: dict[str, Any]) -> str:
    """Return the role of a content, which is the user if it names none."""
    word = value.get("role")
    return word if type(word) is str and word else "user"


def as_list(value: Any) -> list[Any]:
    """Return a list unchanged, and a single object as a list of one: the API accepts both. Returns [] for any other value."""
    return value if type(value) is list else [value] if type(value) is dict else []


def role_runs(value: dict[str, Any]) -> list[Run]:
    """Return the messages of a content: its responses are a tool message, its other parts a human message."""
    role = ROLES.get(word_of(value).lower(), word_of(value))
    return user_runs(as_list(value.get("parts")), is_response) if role in (HUMAN, TOOL) else [(role, None)]


def is_response(item: Any) -> bool:
    return type(member(item, "functionResponse")) is dict


def read_parts(content: Content, role: Role) -> list[Part]:
    if type(content.value) is dict:
        return [_part(content.value, content.text, content.at, display_ids([content.value])[0], content.first)]
    ids = display_ids(content.value) if type(content.value) is list else []
    return content.parts(lambda index, place, origin: _part(content.value[index], content.text, place, ids[index], origin), "parts")


def display_ids(content: Sequence[Any]) -> list[str]:
    """Return the id of each call and response; if it has none, an id made from the tool's name.

    In histories of Gemini CLI, only responses have ids; the program made them from the name and the time.
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
    """Return the member with the data of a part, in camel case; "" if there is none or several."""
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
    """Return the first unknown member of a part without data; "" for a part with several data members."""
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
    """Return an image, or a file with its bytes; None for a file that is only referred to."""
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
