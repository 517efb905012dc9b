"""Read the items of OpenAI's Responses API as messages and parts.

Consecutive items of the model (reasoning, texts, calls, server tools) form one AI message. An item with a result is a tool
message. Items that only control the API (references, settings) are not messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    FREE_FORM,
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
)
from chainviz.core.dialects.content import read_result_content
from chainviz.core.dialects.values import decode_base64, split_data_url, string_of, text_or_null
from chainviz.core.documents.json.edit import raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.vendors.openai_form.read import ROLES


@dataclass(frozen=True, slots=True)
class CallItem:
    """A call that the client runs and answers with another item."""

    type: str
    """The type of the call in a chain."""
    arguments: str
    """The member with the arguments."""
    name: str = ""
    """The tool's name, if the item does not contain it."""


CALLS = {
    "function_call": CallItem("function", "arguments"),
    "custom_tool_call": CallItem(FREE_FORM, "input"),
    "computer_call": CallItem("computer", "action", "computer"),
    "shell_call": CallItem("shell", "action", "shell"),
    "local_shell_call": CallItem("local_shell", "action", "local_shell"),
    "apply_patch_call": CallItem("apply_patch", "operation", "apply_patch"),
    "tool_search_call": CallItem("tool_search", "arguments", "tool_search"),
}
RESULTS = {
    "function_call_output": "output",
    "custom_tool_call_output": "output",
    "computer_call_output": "output",
    "shell_call_output": "output",
    "local_shell_call_output": "output",
    "apply_patch_call_output": "output",
    "tool_search_output": "tools",
}
"""For each type of result, the member with the tool's output."""
SERVER_ITEMS = frozenset(
    ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools",
     "mcp_call", "mcp_approval_request", "program", "program_output", "compaction", "compaction_summary",
     "context_compaction")
)  # fmt: skip
"""Calls that the API runs itself, so the client sends no result."""
COMPACTIONS = frozenset(("compaction", "compaction_summary", "context_compaction"))
SETTINGS = frozenset(("item_reference", "additional_tools", "configuration_update", "compaction_trigger"))
ITEM_TYPES = frozenset((*CALLS, *RESULTS, *SERVER_ITEMS, *SETTINGS, "reasoning", "mcp_approval_response"))
"""All item types except `message`, which other formats also have."""
AUTO = "auto"
"""The default detail of an image."""
TEXT_BLOCKS = ("input_text", "output_text", "text", "summary_text")


def kind_of(item: Any) -> str:
    """Return the type of an item; "" if the value is not an item. An item with a role is a message even without a type."""
    if type(item) is not dict:
        return ""
    kind = item.get("type")
    if type(kind) is str and kind:
        return kind
    return "message" if type(item.get("role")) is str else ""


def role_of(item: dict[str, Any], *, is_first: bool = False) -> Role:
    """Return the role of the message that an item belongs to; "" if it belongs to none.

    A compaction at the beginning of a chain is a system message, because it summarizes what came before.
    """
    kind = kind_of(item)
    if kind == "message":
        role = item.get("role")
        return ROLES.get(role, role) if type(role) is str else AI
    if kind in COMPACTIONS and is_first:
        return SYSTEM
    if item.get("execution") == "server" or kind in SERVER_ITEMS or kind == "reasoning" or kind in CALLS:
        return AI
    if kind in RESULTS:
        return TOOL
    if kind == "mcp_approval_response":
        return HUMAN
    if kind in SETTINGS:
        return ""
    return AI if kind.endswith("_call") else kind


def is_client_call(item: dict[str, Any]) -> bool:
    return kind_of(item) in CALLS and item.get("execution") != "server"


def read_item(item: dict[str, Any], text: str, at: Pointer, first: int = 0) -> list[Part]:
    """Return the parts of the item at `at` in `text`. Their origins count from `first`."""
    kind = kind_of(item)
    if kind == "message":
        return _message_parts(item.get("content"), text, (*at, "content"), first)
    if kind == "reasoning":
        signature = item.get("encrypted_content")
        return [Thinking(reasoning_text(item), signature if type(signature) is str else "", origin=first)]
    if is_client_call(item):
        return [_call(item, text, at, first)]
    if kind in RESULTS and item.get("execution") != "server":
        return [read_result(item, text, at, first)]
    return [Opaque(kind, raw_at(text, at) or "", origin=first)]


def reasoning_text(item: dict[str, Any]) -> str:
    """Return the summary and content of a reasoning item, one paragraph per text."""
    blocks = [block for key in ("summary", "content") for block in _list(item.get(key))]
    return "\n\n".join(block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def id_key(item: dict[str, Any]) -> str:
    """Return the name of the member by which calls and results are matched. The result of a local shell has only `id`."""
    return "id" if "call_id" not in item and kind_of(item) == "local_shell_call_output" else "call_id"


def _call(item: dict[str, Any], text: str, at: Pointer, origin: int) -> ToolCall:
    shape = CALLS[kind_of(item)]
    arguments = item.get(shape.arguments)
    if type(arguments) is not str:
        arguments = raw_at(text, (*at, shape.arguments)) or ""
    return ToolCall(string_of(item, "call_id"), string_of(item, "name") or shape.name, arguments, shape.type, origin=origin)


def read_result(item: dict[str, Any], text: str, at: Pointer, origin: int) -> ToolResult:
    key = RESULTS[kind_of(item)]
    output = item.get(key)
    picture = read_element(output) if type(output) is dict else None
    media: tuple[Image | Binary, ...]
    if isinstance(picture, Image | Binary):
        content, media = "", (picture,)
    else:
        content, media = read_result_content(output, text, (*at, key), read_element)
    is_error = item.get("status") == "failed"
    call_type = FREE_FORM if kind_of(item) == "custom_tool_call_output" else "function"
    id, name = string_of(item, id_key(item)), string_of(item, "name")
    return ToolResult(id, name, content, is_error, media, type=call_type, origin=origin)


def _message_parts(content: Any, text: str, at: Pointer, first: int) -> list[Part]:
    if type(content) is str:
        return [Text(content, origin=first)]
    if content is None:
        return []
    if type(content) is not list:
        return [Opaque("content", raw_at(text, at) or "", origin=first)]
    return [_block(block, text, (*at, place), first + place) for place, block in enumerate(content)]


def _block(block: Any, text: str, at: Pointer, origin: int) -> Part:
    if type(block) is str:
        return Text(block, origin=origin)
    kind = block.get("type") if type(block) is dict else None
    if type(kind) is str:
        if kind in TEXT_BLOCKS and (said := text_or_null(block)) is not None:
            return Text(said, origin=origin)
        if kind == "refusal" and type(block.get("refusal")) is str:
            return Text(block["refusal"], origin=origin)
        if kind in ("reasoning", "reasoning_text") and type(block.get("text")) is str:
            return Thinking(block["text"], origin=origin)
        media = read_media(block, origin)
        if media is not None:
            return media
    return Opaque(kind if type(kind) is str else "content", raw_at(text, at) or "", origin=origin)


def read_media(block: dict[str, Any], origin: int = -1) -> Image | Binary | None:
    """Return an image with its URL, or a file with its bytes; None for a file that is only referred to."""
    if block.get("type") in ("input_image", "computer_screenshot") and type(block.get("image_url")) is str:
        detail = string_of(block, "detail")
        return Image(block["image_url"], "" if detail == AUTO else detail, origin=origin)
    split = split_data_url(string_of(block, "file_data")) if block.get("type") == "input_file" else None
    content = decode_base64(split[1]) if split else None
    return None if split is None or content is None else Binary(split[0], content, origin=origin)


def read_element(block: dict[str, Any]) -> str | Image | Binary | None:
    """Return an element of a result's list as text or media; None for any other element."""
    if block.get("type") in TEXT_BLOCKS and type(block.get("text")) is str:
        return str(block["text"])
    return read_media(block)
