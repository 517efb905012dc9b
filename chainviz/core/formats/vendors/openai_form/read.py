"""Read messages of OpenAI's chat API and of the many programs with the same messages and small differences.

The place of a part is the JSON pointer, inside the message, of the element that it was read from.
"""

from __future__ import annotations

from typing import Any

from chainviz.core.chain.messages import (
    AI,
    HUMAN,
    SYSTEM,
    TOOL,
    Binary,
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
from chainviz.core.dialects.content import read_result_content
from chainviz.core.dialects.values import Speller, decode_base64, split_data_url, string_of, text_or_null
from chainviz.core.documents.json.edit import Object, dump, raw_at
from chainviz.core.documents.units import Pointer

ROLES: dict[str, Role] = {
    "system": SYSTEM, "developer": SYSTEM, "user": HUMAN, "assistant": AI, "model": AI, "tool": TOOL, "function": TOOL,
    "_system_prompt": SYSTEM,
}  # fmt: skip
"""Roles by their names in messages. `_system_prompt` is Kimi CLI's name for system."""
WORDS: dict[Role, str] = {SYSTEM: "system", HUMAN: "user", AI: "assistant", TOOL: "tool"}
REASONING_KEYS = ("reasoning_content", "reasoning", "tool_plan")
REASONING_COPIES = ("reasoning_content", "reasoning", "tool_plan", "reasoning_details", "reasoning_items", "thinking_blocks")
_NOTES = ("stop_reason", "finish_reason", "stopReason")


THINKING = {"thinking": "signature", "think": "encrypted"}
"""The types of content parts with reasoning, each with the member of its signature. The text is the member named like the type."""


def role_of(value: dict[str, Any]) -> Role:
    """Return the role of a message. The result of a tool that the user ran is a human message (tau2, dual control)."""
    word: str = value["role"]
    role = ROLES.get(word, word)
    return HUMAN if role == TOOL and value.get("requestor") == "user" else role


def is_result(value: dict[str, Any]) -> bool:
    """Return True if a message contains the result of a call, of the model or of the user."""
    return ROLES.get(value["role"]) == TOOL


def label_of(value: dict[str, Any], role: Role) -> str:
    word: str = value["role"]
    return "" if WORDS.get(role) == word else word


def note_of(value: dict[str, Any]) -> str:
    for key in _NOTES:
        if key in value and isinstance(value[key], str):
            return str(value[key])
    return ""


def read_parts(role: Role, value: dict[str, Any], text: str) -> tuple[list[Part], list[Pointer]]:
    """Return the parts of a message and the place of each."""
    if is_result(value):
        return [read_result(value, text)], [()]
    parts: list[Part] = []
    places: list[Pointer] = []
    if role == AI:
        for key in REASONING_KEYS:
            reasoning = value.get(key)
            if reasoning and type(reasoning) is str:
                parts.append(Thinking(reasoning, origin=0))
                places.append((key,))
                break
    content = value.get("content")
    calls = value.get("tool_calls")
    legacy = _legacy_call(value)
    # beside calls, an empty text is left out; without calls, it is the message
    if type(content) is str and (content or not (calls or legacy)):
        parts.append(Text(content, origin=len(parts)))
        places.append(("content",))
    elif content is not None and type(content) is not str:
        _read_content(content, text, parts, places)
    refusal = value.get("refusal")
    if refusal and type(refusal) is str:
        parts.append(Text(refusal, origin=len(parts)))
        places.append(("refusal",))
    listed = [(item, ("tool_calls", index)) for index, item in enumerate(calls)] if type(calls) is list else []
    alone = [(legacy, ("function_call",))] if type(legacy) is dict else []
    for item, place in (*listed, *alone):
        parts.append(_call(item, text, place, len(parts), role))
        places.append(place)
    return parts, places


def _legacy_call(value: dict[str, Any]) -> Any:
    """Return the legacy call of a message; None if its name and arguments are empty, which some programs write for no call."""
    call = value.get("function_call")
    return None if type(call) is dict and not call.get("name") and not call.get("arguments") else call


def _read_content(content: Any, text: str, parts: list[Part], places: list[Pointer]) -> None:
    if type(content) is not list:
        parts.append(Opaque("content", raw_at(text, ("content",)) or "", origin=len(parts)))
        places.append(("content",))
        return
    for index, item in enumerate(content):
        place: Pointer = ("content", index)
        parts.append(_content_part(item, text, place, len(parts)))
        places.append(place)


def _content_part(item: Any, text: str, place: Pointer, origin: int) -> Part:
    if type(item) is str:
        return Text(item, origin=origin)
    if type(item) is dict:
        kind = item.get("type")
        if kind == "text" and (said := text_or_null(item)) is not None:
            return Text(said, origin=origin)
        if kind == "image_url":
            image = _image(item, origin)
            if image is not None:
                return image
        if kind == "file" and (file := _file(item, origin)) is not None:
            return file
        if type(kind) is str and kind in THINKING and type(item.get(kind)) in (str, list):
            return Thinking(_thinking(item[kind]), string_of(item, THINKING[kind]), origin=origin)
        if type(kind) is str:
            return Opaque(kind, raw_at(text, place) or "", origin=origin)
    return Opaque("content", raw_at(text, place) or "", origin=origin)


def _thinking(value: Any) -> str:
    """Return the reasoning in a content part, which is a text or a list of chunks (Mistral)."""
    if type(value) is str:
        return value
    chunks = [chunk.get("text") for chunk in value if type(chunk) is dict]
    return "\n\n".join(text for text in chunks if type(text) is str)


def _image(item: dict[str, Any], origin: int = -1) -> Image | None:
    image = item.get("image_url")
    if type(image) is str:
        return Image(image, origin=origin)
    if type(image) is dict and type(image.get("url")) is str:
        detail = image.get("detail")
        return Image(image["url"], detail if type(detail) is str else "", origin=origin)
    return None


def _file(item: dict[str, Any], origin: int) -> Binary | None:
    """Return the file of a part, or None if the part only names one, or its data are not those of a data: URL."""
    split = split_data_url(string_of(item.get("file"), "file_data"))
    content = decode_base64(split[1]) if split else None
    return None if split is None or content is None else Binary(split[0], content, origin=origin)


def _call(item: Any, text: str, place: Pointer, origin: int, role: Role) -> Part:
    """Return a call of the model or, in tau2's dual control, of the user. A call of any other role is an opaque part."""
    if type(item) is not dict or role not in (AI, HUMAN):
        return Opaque("tool_call", raw_at(text, place) or "", origin=origin)
    holder = call_holder(item)
    inner = item
    for step in holder:
        inner = inner[step]
    has_function = bool(holder) or type(item.get("function")) is str or "name" in item
    name = item["function"] if type(item.get("function")) is str else inner.get("name")
    name = name if type(name) is str else ""
    key = arguments_key(holder)
    arguments = inner.get(key)
    if type(arguments) is not str:
        arguments = (raw_at(text, (*place, *holder, key)) or "") if arguments is not None else ""
    call_id = item.get("id")
    kind = item.get("type")
    return ToolCall(
        call_id if type(call_id) is str else name, name, arguments, kind if type(kind) is str else "function", has_function, origin=origin
    )


def call_holder(item: dict[str, Any]) -> tuple[str, ...]:
    """Return the pointer to the object with name and arguments in a call; () for the call itself."""
    for key in ("function", "custom"):
        if type(item.get(key)) is dict:
            return (key,)
    return ()


def arguments_key(holder: tuple[str, ...]) -> str:
    return "input" if holder == ("custom",) else "arguments"


RESULT_IDS = ("tool_call_id", "id", "toolCallId")


def result_id_key(value: dict[str, Any]) -> str:
    """Return the member with the id of the call; "" if the result has only the tool's name."""
    if value.get("role") == "function":
        return ""
    for key in RESULT_IDS:
        if type(value.get(key)) is str:
            return key
    return "tool_call_ids" if value.get("tool_call_ids") and type(value["tool_call_ids"]) is list else ""


def result_name_key(value: dict[str, Any]) -> str:
    for key in ("name", "tool_name", "function"):
        if type(value.get(key)) is str:
            return key
    return ""


def read_result(value: dict[str, Any], text: str) -> ToolResult:
    name_key = result_name_key(value)
    name: str = value[name_key] if name_key else ""
    key = result_id_key(value)
    call_id = value[key] if key else name
    if type(call_id) is list:
        call_id = call_id[0]
    content, media = read_result_content(value.get("content"), text, ("content",), read_element)
    error = value.get("error")
    return ToolResult(call_id if type(call_id) is str else name, name, content, bool(error) and error is not None, media, origin=0)


def read_element(item: dict[str, Any]) -> str | Image | None:
    """Return an element of a result's list as text or image; None for any other element. Cohere's elements are documents."""
    if item.get("type") == "text" and type(item.get("text")) is str:
        return str(item["text"])
    document = item.get("document")
    if item.get("type") == "document" and type(document) is dict and "data" in document:
        return document["data"] if type(document["data"]) is str else dump(document["data"])
    return _image(item) if item.get("type") == "image_url" else None


def set_text(element: Object, text: str, speller: Speller) -> None:
    """Change the text of an element of a result's list."""
    document = element.get("document")
    if type(document) is dict and "data" in document:
        holder = element.child("document")
        assert isinstance(holder, Object)
        holder.set("data", speller.quote(text))
    else:
        element.set("text", speller.quote(text))


COMMON_ROLES = frozenset(("system", "user", "assistant", "tool"))
"""Roles that every API of this form accepts."""
MOST_CALLS, LONGEST_TEXT = 128, 10_485_760
"""The most calls of a message and the longest text as content that OpenAI accepts."""
_USUAL = frozenset(("role", "content", "tool_calls", "tool_call_id"))
_USUAL_CALL, _USUAL_FUNCTION = frozenset(("id", "type", "function")), frozenset(("name", "arguments"))


def is_usual(value: dict[str, Any]) -> bool:
    """Return True, cheaply, for nearly every message: a text, a result or calls of functions by the model, without a fault."""
    role, content = value.get("role"), value.get("content")
    if not value.keys() <= _USUAL or type(role) is not str or role not in COMMON_ROLES:
        return False
    if type(content) is str and len(content) > LONGEST_TEXT:
        return False
    if type(content) is not str and (content is not None or role != "assistant"):
        return False
    if type(value.get("tool_call_id")) is not (str if role == "tool" else type(None)):
        return False
    if "tool_calls" not in value:
        return True
    calls = value["tool_calls"]
    return role == "assistant" and type(calls) is list and 0 < len(calls) <= MOST_CALLS and all(map(_is_usual_call, calls))


def _is_usual_call(call: Any) -> bool:
    if type(call) is not dict or call.keys() != _USUAL_CALL or call["type"] != "function" or type(call["id"]) is not str:
        return False
    function = call["function"]
    if type(function) is not dict or function.keys() != _USUAL_FUNCTION:
        return False
    return type(function["name"]) is str and type(function["arguments"]) is str


def _usual_parts(value: dict[str, Any]) -> tuple[Part, ...]:
    """Return what `read_parts` does for a usual message."""
    content: Any = value.get("content")
    if value["role"] == "tool":
        return (ToolResult(value["tool_call_id"], "", content, origin=0),)
    if "tool_calls" not in value:
        return () if content is None else (Text(content, origin=0),)
    parts: list[Part] = [Text(content, origin=0)] if content else []
    for call in value["tool_calls"]:
        function = call["function"]
        parts.append(ToolCall(call["id"], function["name"], function["arguments"], origin=len(parts)))
    return tuple(parts)


def read_message(value: dict[str, Any], text: str, source: tuple[Any, ...]) -> Message:
    if is_usual(value):
        object.__setattr__(source[0], "is_usual", True)
        return Message(ROLES[value["role"]], _usual_parts(value), source=source)
    role = role_of(value)
    parts, _ = read_parts(role, value, text)
    return Message(role, tuple(parts), source=source, label=label_of(value, role), note=note_of(value))
