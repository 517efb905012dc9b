"""Reads Anthropic's content blocks as parts.

`at` is where in the unit the content lies: a text, or a list of blocks. A user's run of tool results is one tool message,
its other blocks are a human message: text beside results is a message of its own, as the person's words are.
"""

from __future__ import annotations

from dataclasses import replace
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
from chainviz.core.dialects.blocks.block_units import Content, Run, user_runs, value_at
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.patching import decode_base64
from chainviz.core.dialects.result_content import read_result_content
from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.documents.units import Pointer

OWN_KINDS = frozenset(
    ("image", "document", "search_result", "container_upload", "server_tool_use", "mcp_tool_use", "mcp_tool_listing",
     "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
     "text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_result", "advisor_tool_result",
     "compaction", "fallback", "tool_addition", "tool_removal")
)  # fmt: skip
"""Types of the API's blocks that are opaque parts."""
ROLES: dict[str, Role] = {"user": HUMAN, "assistant": AI, "system": SYSTEM}
WORDS: dict[Role, str] = {HUMAN: "user", TOOL: "user", AI: "assistant", SYSTEM: "system"}


def role_runs(word: str, content: Any) -> list[Run]:
    """The messages a unit feeds: role, and its blocks where there is more than one."""
    role = ROLES.get(word, word)
    return user_runs(content, is_result) if role == HUMAN else [(role, None)]


def is_result(item: Any) -> bool:
    return type(item) is dict and item.get("type") == "tool_result"


class ResultForm:
    """Where the block of a result keeps what it says; programs that store Anthropic's blocks have forms of their own."""

    id_key = "tool_use_id"
    name_key = ""
    """The member that repeats the tool's name; "" where none does."""
    error_at: Pointer = ("is_error",)
    error_words = ("false", "true")
    """JSON text of a result that is no error, and of one that is."""
    marks_success = False
    """A result that is no error says so."""

    def content_at(self, item: dict[str, Any]) -> Pointer:
        return ("content",)

    def is_error(self, item: dict[str, Any]) -> bool:
        return dump(value_at(item, self.error_at)) == self.error_words[True]


RESULT_FORM = ResultForm()


def read_blocks(content: Content, role: Role, form: ResultForm = RESULT_FORM) -> list[Part]:
    def part(index: int, place: Pointer, origin: int) -> Part:
        item = content.value[index]
        if role == TOOL and is_result(item):
            return replace(_result(item, content.text, place, form), origin=origin)
        return _part(item, content.text, place, role, origin)

    return content.parts(part)


def _result(item: dict[str, Any], text: str, place: Pointer, form: ResultForm) -> ToolResult:
    at = form.content_at(item)
    content, media = read_result_content(value_at(item, at), text, (*place, *at), read_element)
    name = string_of(item, form.name_key) if form.name_key else ""
    return ToolResult(string_of(item, form.id_key), name, content, form.is_error(item), media)


def _part(item: Any, text: str, place: Pointer, role: Role, origin: int) -> Part:
    kind = item.get("type") if type(item) is dict else None
    if kind == "text" and type(item.get("text")) is str:
        return Text(item["text"], origin=origin)
    if kind == "tool_use" and role == AI and type(item.get("id")) is str:
        raw = raw_at(text, (*place, "input")) if "input" in item else ""
        return ToolCall(item["id"], string_of(item, "name"), raw or "", origin=origin)
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
