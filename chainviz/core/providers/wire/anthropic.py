"""The JSON of Anthropic's messages (anthropic/types/*_param.py): which content, which blocks in whose messages, which members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Message
from chainviz.core.dialects.members import string_of
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.wire.message import FOREIGN_KINDS, Fault, in_blocks, kind_name, sent_value, unknown_members

REFERENCE = "docs.claude.com/en/api/messages"
CONTENT = Rule("content-type", "error", "messages.content: Input should be a valid list", REFERENCE)
NO_CONTENT = Rule("content-missing", "error", "messages.content: Field required", REFERENCE, ("drop-empty",))
BLOCK = Rule(
    "part-type",
    "error",
    "messages.content: Input tag found using 'type' does not match any of the expected tags",
    REFERENCE,
)
MEMBER = Rule("member-missing", "error", "messages.content: Field required", REFERENCE)
ASSISTANT_ONLY = Rule(
    "part-role", "error", "messages: blocks of this type can only be in `assistant` messages", REFERENCE
)
USER_ONLY = Rule("part-role", "error", "messages: `tool_result` blocks can only be in `user` messages", REFERENCE)

_MEMBERS: dict[str, dict[str, type]] = {
    "text": {"text": str},
    "image": {"source": dict},
    "document": {"source": dict},
    "search_result": {"content": list, "source": str, "title": str},
    "thinking": {"thinking": str, "signature": str},
    "redacted_thinking": {"data": str},
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str},
    "server_tool_use": {"id": str, "name": str},
    "mcp_tool_use": {"id": str, "name": str},
    "container_upload": {"file_id": str},
}
"""What a block of each type must have."""
_RESULTS = (
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_result", "advisor_tool_result",
)  # fmt: skip
_OF_ASSISTANT = frozenset(
    ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "compaction", "fallback",
     "mcp_tool_listing", *_RESULTS)
)  # fmt: skip
_OF_USER = frozenset(("tool_result",))
BLOCKS = frozenset((*_MEMBERS, *_OF_ASSISTANT, "tool_addition", "tool_removal"))
_IN_RESULTS = frozenset(("text", "image", "search_result", "document", "tool_reference", "browser_state"))
_FIELDS = frozenset(
    ("role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
     "context_management", "diagnostics", "input_transformations")
)  # fmt: skip
"""Of a message; those beyond role and content are of an answer, which is sent back without them."""


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if value is not None:
        yield from in_blocks(message, _faults(message, value), "content")


def _faults(message: Message, value: Any) -> Iterator[Fault]:
    if message.source[0].ordinal == SLOT:
        yield from _content_faults(value, SYSTEM)
    elif isinstance(value, dict):
        yield from unknown_members(value, _FIELDS)
        if "content" not in value:
            yield NO_CONTENT, (), "has no content"
        else:
            yield from _content_faults(value["content"], value.get("role"))


def _content_faults(content: Any, role: Any) -> Iterator[Fault]:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        yield CONTENT, (), f"has {kind_name(content)} as content"
        return
    for index, block in enumerate(content):
        yield from _block_faults(block, ("content", index), role)


def _block_faults(block: Any, place: Pointer, role: Any) -> Iterator[Fault]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        yield BLOCK, place, f"has {kind_name(block)} without a type in its content"
    elif kind not in BLOCKS:
        rule = BLOCK if kind in FOREIGN_KINDS else NOT_UNDERSTOOD
        yield (
            rule,
            place,
            f"holds a part of the kind “{kind[:40]}”, which {'it does not take' if rule is BLOCK else 'is not checked'}",
        )
    elif kind in _OF_ASSISTANT and role != "assistant":
        yield ASSISTANT_ONLY, place, f"is of the role {role} and holds a {kind} block"
    elif kind in _OF_USER and role != "user":
        yield USER_ONLY, place, f"is of the role {role} and holds a {kind} block"
    else:
        yield from _member_faults(block, kind, place)


def _member_faults(block: Mapping[str, Any], kind: str, place: Pointer) -> Iterator[Fault]:
    for key, type_ in _MEMBERS.get(kind, {}).items():
        if not isinstance(block.get(key), type_):
            lacks = f"{kind_name(block[key])} as “{key}”" if key in block else f"no “{key}”"
            yield MEMBER, place, f"holds a {kind} block with {lacks}"
    content = block.get("content")
    if kind != "tool_result" or content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        yield CONTENT, place, f"holds a tool result with {kind_name(content)} as content"
        return
    for item in content:
        inner = string_of(item, "type")
        if inner not in _IN_RESULTS:
            rule = NOT_UNDERSTOOD if inner and inner not in FOREIGN_KINDS else BLOCK
            yield rule, place, f"holds a tool result with a part of the kind “{inner[:40]}”"
