"""Bedrock Converse's content blocks, objects whose one key says what they are: reading them as parts."""

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
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import raw_at
from chainviz.core.documents.units import Pointer

ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "system": SYSTEM}
WORDS: dict[Role, str] = {HUMAN: "user", TOOL: "user", AI: "assistant", SYSTEM: "system"}
OWN_KINDS = frozenset(
    ("image", "document", "video", "audio", "guardContent", "cachePoint", "citationsContent", "searchResult", "toolUse",
     "toolResult", "toolAddition", "toolRemoval", "reasoningContent")
)  # fmt: skip
DOCUMENTS = {
    "pdf": "application/pdf", "csv": "text/csv", "txt": "text/plain", "html": "text/html", "md": "text/markdown",
    "doc": "application/msword", "xls": "application/vnd.ms-excel",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}  # fmt: skip
"""Media types by the names that Bedrock gives to kinds of documents."""


def role_runs(word: str, content: Any) -> list[Run]:
    """The messages a unit feeds: results are a tool message, everything beside them is the user's."""
    role = ROLES.get(word, word)
    return user_runs(content, _is_result) if role == HUMAN else [(role, None)]


def _is_result(item: Any) -> bool:
    return type(item) is dict and type(item.get("toolResult")) is dict


def kind_of(item: Any) -> str:
    """The key that says what a block is; "" for what is no block."""
    if type(item) is not dict or "type" in item:
        return ""
    return next((key for key in item if key == "text" or key in OWN_KINDS), next(iter(item), ""))


def read_blocks(content: Content, role: Role) -> list[Part]:
    return content.parts(lambda index, place, origin: _part(content.value[index], content.text, place, role, origin))


def _part(item: Any, text: str, at: Pointer, role: Role, origin: int) -> Part:
    kind = kind_of(item)
    inner = item.get(kind) if kind else None
    if kind == "text" and type(inner) is str:
        return Text(inner, origin=origin)
    if type(inner) is dict:
        if kind == "toolUse" and role == AI and inner.get("type") != "server_tool_use":
            raw = raw_at(text, (*at, kind, "input")) if "input" in inner else ""
            return ToolCall(string_of(inner, "toolUseId"), string_of(inner, "name"), raw or "", origin=origin)
        if kind == "toolResult" and role == TOOL:
            said, media = read_result_content(inner.get("content"), text, (*at, kind, "content"), read_element)
            return ToolResult(string_of(inner, "toolUseId"), "", said, inner.get("status") == "error", media, origin=origin)
        if kind == "reasoningContent" and type(inner.get("reasoningText")) is dict:
            thought = inner["reasoningText"]
            return Thinking(string_of(thought, "text"), string_of(thought, "signature"), origin=origin)
        if kind == "reasoningContent" and type(inner.get("redactedContent")) is str:
            return Thinking("", inner["redactedContent"], True, origin=origin)
        media_part = read_media(item, origin)
        if media_part is not None:
            return media_part
    return Opaque(kind or "content", raw_at(text, at) or "", origin=origin)


def read_media(item: dict[str, Any], origin: int = -1) -> Image | Binary | None:
    """A picture, or a document that carries its bytes; None for what is only referred to."""
    kind = kind_of(item)
    inner = item.get(kind)
    if kind not in ("image", "document") or type(inner) is not dict or type(inner.get("source")) is not dict:
        return None
    name, source = string_of(inner, "format"), inner["source"]
    if kind == "image":
        if type(source.get("bytes")) is str:
            return Image(f"data:image/{name};base64,{source['bytes']}", origin=origin)
        uri = string_of(source.get("s3Location"), "uri")
        return Image(uri, origin=origin) if uri else None
    content = decode_base64(string_of(source, "bytes")) if "bytes" in source else None
    return None if content is None or name not in DOCUMENTS else Binary(DOCUMENTS[name], content, origin=origin)


def read_element(item: dict[str, Any]) -> str | Image | Binary | None:
    """An element of a result's list."""
    if type(item.get("text")) is str:
        return str(item["text"])
    return json_edit.dump(item["json"]) if "json" in item else read_media(item)
