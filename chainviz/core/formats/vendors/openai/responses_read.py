"""The items of OpenAI's Responses API: what each is, and its parts.

The model's items that follow one another (reasoning, texts, calls, what its server tools did) are one AI message. An item
that holds a result is a tool message. Items that only steer the API (references, settings) are no messages.
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
)  # fmt: skip
from chainviz.core.dialects.content import read_result_content
from chainviz.core.dialects.values import decode_base64, split_data_url, string_of
from chainviz.core.documents.json.edit import raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.vendors.openai_form.read import ROLES


@dataclass(frozen=True, slots=True)
class CallItem:
    """A call that the caller runs and answers with an item of its own."""

    type: str
    """The call's type in a chain."""
    arguments: str
    """The member that holds its arguments."""
    name: str = ""
    """The tool, where the item does not name it."""


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
"""The member of a result's item that holds what the tool said."""
SERVER_ITEMS = frozenset(
    ("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_list_tools",
     "mcp_call", "mcp_approval_request", "program", "program_output", "compaction", "compaction_summary",
     "context_compaction")
)  # fmt: skip
"""What the API runs itself; the caller does not answer these."""
COMPACTIONS = frozenset(("compaction", "compaction_summary", "context_compaction"))
SETTINGS = frozenset(("item_reference", "additional_tools", "configuration_update", "compaction_trigger"))
ITEM_TYPES = frozenset((*CALLS, *RESULTS, *SERVER_ITEMS, *SETTINGS, "reasoning", "mcp_approval_response"))
"""All item types but `message`, which other formats have too."""
AUTO = "auto"
"""The detail of an image that does not say one."""
TEXT_BLOCKS = ("input_text", "output_text", "text", "summary_text")


def kind_of(item: Any) -> str:
    """Return the item's type; "" if it is not an item. Easy messages, which have a role, need no type."""
    if type(item) is not dict:
        return ""
    kind = item.get("type")
    if type(kind) is str and kind:
        return kind
    return "message" if type(item.get("role")) is str else ""


def role_of(item: dict[str, Any], *, is_first: bool = False) -> Role:
    """The role of the message an item belongs to, "" for one that belongs to none.

    A compaction that opens a chain represents what came before it, as a system message does.
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
    """Read the parts of the item at `at` in `text`; origins count from `first`."""
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
    """The texts of summary and content, a paragraph each."""
    blocks = [block for key in ("summary", "content") for block in _list(item.get(key))]
    return "\n\n".join(block["text"] for block in blocks if type(block) is dict and type(block.get("text")) is str)


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def id_key(item: dict[str, Any]) -> str:
    """The member by which calls and results are matched; a local shell's result has only an id."""
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
        if kind in TEXT_BLOCKS and type(block.get("text")) is str:
            return Text(block["text"], origin=origin)
        if kind == "refusal" and type(block.get("refusal")) is str:
            return Text(block["refusal"], origin=origin)
        if kind in ("reasoning", "reasoning_text") and type(block.get("text")) is str:
            return Thinking(block["text"], origin=origin)
        media = read_media(block, origin)
        if media is not None:
            return media
    return Opaque(kind if type(kind) is str else "content", raw_at(text, at) or "", origin=origin)


def read_media(block: dict[str, Any], origin: int = -1) -> Image | Binary | None:
    """Read an image with an address, or a file that carries its bytes; None for one that is only referred to."""
    if block.get("type") in ("input_image", "computer_screenshot") and type(block.get("image_url")) is str:
        detail = string_of(block, "detail")
        return Image(block["image_url"], "" if detail == AUTO else detail, origin=origin)
    split = split_data_url(string_of(block, "file_data")) if block.get("type") == "input_file" else None
    content = decode_base64(split[1]) if split else None
    return None if split is None or content is None else Binary(split[0], content, origin=origin)


def read_element(block: dict[str, Any]) -> str | Image | Binary | None:
    """An element of a result's list."""
    if block.get("type") in TEXT_BLOCKS and type(block.get("text")) is str:
        return str(block["text"])
    return read_media(block)
