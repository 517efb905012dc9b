"""Reads Anthropic's content blocks as parts.

`at` is where in the unit the content lies: a text, or a list of blocks. A user's run of tool results is one tool message,
its other blocks are a human message: text beside results is a message of its own, as the person's words are.
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
    Opaque,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.dialects.blocks.block_units import Content, Run, user_runs
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.patching import decode_base64
from chainviz.core.dialects.result_content import read_result_content
from chainviz.core.documents.json.edit import raw_at
from chainviz.core.documents.units import Pointer

ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "system": SYSTEM}
WORDS: dict[Role, str] = {HUMAN: "user", TOOL: "user", AI: "assistant", SYSTEM: "system"}


def role_runs(word: str, content: Any) -> list[Run]:
    """The messages a unit feeds: role, and its blocks where there is more than one."""
    role = ROLES.get(word, word)
    return user_runs(content, _is_result) if role == HUMAN else [(role, None)]


def _is_result(item: Any) -> bool:
    return type(item) is dict and item.get("type") == "tool_result"


def read_blocks(content: Content, role: Role) -> list[Part]:
    return content.parts(lambda index, place, origin: _part(content.value[index], content.text, place, role, origin))


def _part(item: Any, text: str, place: Pointer, role: Role, origin: int) -> Part:
    kind = item.get("type") if type(item) is dict else None
    if kind == "text" and type(item.get("text")) is str:
        return Text(item["text"], origin=origin)
    if kind == "tool_use" and role == AI and type(item.get("id")) is str:
        raw = raw_at(text, (*place, "input")) if "input" in item else ""
        return ToolCall(item["id"], string_of(item, "name"), raw or "", origin=origin)
    if kind == "tool_result" and role == TOOL:
        content, media = read_result_content(item.get("content"), text, (*place, "content"), read_element)
        return ToolResult(string_of(item, "tool_use_id"), "", content, item.get("is_error") is True, media, origin=origin)
    if kind == "thinking" and type(item.get("thinking")) is str:
        return Thinking(item["thinking"], string_of(item, "signature"), origin=origin)
    if kind == "redacted_thinking" and type(item.get("data")) is str:
        return Thinking("", item["data"], True, origin=origin)
    media_part = read_media(item, origin) if kind in ("image", "document") else None
    if media_part is not None:
        return media_part
    return Opaque(kind if type(kind) is str else "content", raw_at(text, place) or "", origin=origin)


def read_media(item: dict[str, Any], origin: int = -1) -> Image | Binary | None:
    """An image, or a document that carries its bytes; None for what is only referred to."""
    source = item.get("source")
    if type(source) is not dict:
        return None
    kind, mime, content = source.get("type"), string_of(source, "media_type"), string_of(source, "data")
    if item["type"] == "image":
        if kind == "base64":
            return Image(f"data:{mime};base64,{content}", origin=origin)
        return Image(source["url"], origin=origin) if kind == "url" and type(source.get("url")) is str else None
    decoded = decode_base64(content) if kind == "base64" else None
    return None if decoded is None else Binary(mime, decoded, origin=origin)


def read_element(item: dict[str, Any]) -> str | Image | Binary | None:
    """An element of a result's list."""
    if item.get("type") == "text" and type(item.get("text")) is str:
        return str(item["text"])
    return read_media(item) if item.get("type") == "image" else None
