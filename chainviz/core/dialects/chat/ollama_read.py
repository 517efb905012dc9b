"""Ollama's chat messages: texts are strings, pictures raw base64, arguments objects, and calls have no ids (shown_ids)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    TOOL,
    Fragment,
    Image,
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.dialects.shown_ids import ShownIds
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import parse, raw_at

_MAGIC = (("iVBOR", "png"), ("/9j/", "jpeg"), ("R0lGOD", "gif"), ("UklGR", "webp"))
"""How pictures begin in base64."""


def own_id(value: dict[str, Any]) -> str:
    found = value.get("tool_call_id")
    return found if type(found) is str else ""


def owned(source: Sequence[Fragment], role: Role) -> list[list[Part]]:
    """The parts of each unit; origins count through."""
    shown, first = ShownIds(), 0
    found: list[list[Part]] = []
    for fragment in source:
        value = parse(fragment.text)
        text = fragment.text
        parts: list[Part] = [_result(value, text, shown, first)] if role == TOOL else _parts(value, text, role)
        first += len(parts)
        found.append(parts)
    return found


def _result(value: dict[str, Any], text: str, shown: ShownIds, origin: int) -> ToolResult:
    name = value.get("tool_name", value.get("name"))
    name = name if type(name) is str else ""
    content = value.get("content")
    said = content if type(content) is str else "" if content is None else raw_at(text, ("content",)) or ""
    return ToolResult(own_id(value) or (shown.take(name) if name else ""), name, said, origin=origin)


def _parts(value: dict[str, Any], text: str, role: Role) -> list[Part]:
    parts: list[Part] = []
    thinking, content, calls = value.get("thinking"), text_of(value.get("content")), value.get("tool_calls")
    if thinking and type(thinking) is str:
        parts.append(Thinking(thinking, origin=0))
    # beside calls an empty text says nothing; alone it is the message
    if type(content) is str and (content or not calls):
        parts.append(Text(content, origin=len(parts)))
    elif content is not None and type(content) is not str:
        parts.append(Opaque("content", raw_at(text, ("content",)) or "", origin=len(parts)))
    for picture in _list(value.get("images")):
        parts.append(_image(picture, len(parts)))
    shown = ShownIds()
    for place, item in enumerate(_list(calls)):
        parts.append(_call(item, raw_at(text, ("tool_calls", place)) or "", shown, len(parts), role))
    return parts


def text_of(content: Any) -> Any:
    """The text of a content; a list of texts is one, as other programs write it, everything else comes back."""
    if type(content) is not list or not all(type(item) is dict and type(item.get("text")) is str for item in content):
        return content
    return "\n".join(item["text"] for item in content)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _image(picture: Any, origin: int) -> Part:
    if type(picture) is not str:
        return Opaque("image", json_edit.dump(picture), origin=origin)
    kind = next((kind for magic, kind in _MAGIC if picture.startswith(magic)), "png")
    return Image(f"data:image/{kind};base64,{picture}", origin=origin)


def _call(item: Any, text: str, shown: ShownIds, origin: int, role: Role) -> Part:
    function = item.get("function") if type(item) is dict else None
    if role != AI or type(function) is not dict:
        return Opaque("tool_call", text, origin=origin)
    name = function.get("name")
    name = name if type(name) is str else ""
    arguments = function.get("arguments")
    if type(arguments) is not str:
        arguments = raw_at(text, ("function", "arguments")) or ""
    id = item.get("id")
    return ToolCall(id if type(id) is str and id else shown.take(name), name, arguments, origin=origin)
