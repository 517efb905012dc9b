"""Check the JSON of Anthropic's messages (anthropic/types/*_param.py): content, blocks by role, and their members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from chainviz.core.chain.messages import PART_TYPES, SLOT, SYSTEM, Message
from chainviz.core.documents.json.edit import value_of
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules import ALL_MODELS, Rule
from chainviz.core.providers.server_blocks import SERVER_CALL, SERVER_ID_FORM
from chainviz.core.providers.wire import (
    BASE64,
    Each,
    Fault,
    Fields,
    Kinds,
    TextOr,
    Words,
    faults_of,
    in_blocks,
    kind_name,
    misfits,
    sent_value,
    unknown_members,
)

REFERENCE = "docs.claude.com/en/api/messages"
claude_rule = partial(Rule, models=ALL_MODELS, since="2024-05", checked="2026-11-23")
CONTENT = claude_rule("content-type", "error", "messages.content: Input should be a valid list", REFERENCE)
NO_CONTENT = claude_rule("content-missing", "error", "messages.content: Field required", REFERENCE, ("drop-empty",))
BLOCK = claude_rule(
    "part-type", "error", "messages.content: Input tag found using 'type' does not match any of the expected tags", REFERENCE
)
MEMBER = claude_rule("member-missing", "error", "messages.content: Field required", REFERENCE)
VALUE = claude_rule("field-type", "error", "messages.content: Input should be valid", REFERENCE)
ASSISTANT_ONLY = claude_rule("part-role", "error", "messages: blocks of this type can only be in `assistant` messages", REFERENCE)
USER_ONLY = claude_rule("part-role", "error", "messages: `tool_result` blocks can only be in `user` messages", REFERENCE)
PICTURE_BY_ASSISTANT = claude_rule(
    "part-role",
    "error",
    "'image' blocks are not permitted within assistant turns",
    "github.com/SEMOSS/Semoss/issues/2323",
    ("image-to-text",),
)

SERVER_ID = claude_rule(
    "server-call-id", "error", "server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
    "github.com/ding113/claude-code-hub/issues/470", ("respell-id",), since="2025-05", checked="2026-11-28",
)  # fmt: skip
NO_CONTENT_OF_ERROR = claude_rule(
    "result-empty", "error", "tool_result: content cannot be empty if `is_error` is true",
    "github.com/jlevy/markform/issues/153", ("note-result",), since="2025-02", checked="2026-11-28",
)  # fmt: skip
RULES = (CONTENT, NO_CONTENT, BLOCK, MEMBER, VALUE, ASSISTANT_ONLY, USER_ONLY, PICTURE_BY_ASSISTANT, SERVER_ID, NO_CONTENT_OF_ERROR)
_CACHE = {"cache_control": Fields({"type": Words(("ephemeral",))}, {"ttl": Words(("5m", "1h"))})}
_PICTURES = Words(("image/jpeg", "image/png", "image/gif", "image/webp"))
_ELSEWHERE = {"url": Fields({"url": str}), "file": Fields({"file_id": str})}
_IMAGE = Fields(
    {"source": Kinds({"base64": Fields({"media_type": _PICTURES, "data": BASE64}), **_ELSEWHERE})}, {**_CACHE, "transformations": list}
)
_DOCUMENT = Fields(
    {
        "source": Kinds(
            {
                "base64": Fields({"media_type": Words(("application/pdf",)), "data": BASE64}),
                "text": Fields({"media_type": Words(("text/plain",)), "data": str}),
                "content": Fields({"content": TextOr(Each(object))}),
                **_ELSEWHERE,
            }
        )
    },
    {**_CACHE, "title": str, "context": str, "citations": Fields({}, {"enabled": bool})},
)
_TEXT = Fields({"text": str}, {**_CACHE, "citations": Each(dict)})
_SEARCH_RESULT = Fields({"content": Each(dict), "source": str, "title": str}, {**_CACHE, "citations": Fields({}, {"enabled": bool})})
_IN_RESULTS = Kinds(
    {
        "text": _TEXT,
        "image": _IMAGE,
        "document": _DOCUMENT,
        "search_result": _SEARCH_RESULT,
        "tool_reference": Fields({"tool_name": str}, _CACHE),
    }
)
_SERVER_CALL = Fields({"id": str, "name": str, "input": dict}, {**_CACHE, "caller": dict, "server_name": str})
_FORMS: dict[str, Fields] = {
    "text": _TEXT,
    "image": _IMAGE,
    "document": _DOCUMENT,
    "search_result": _SEARCH_RESULT,
    "thinking": Fields({"thinking": str, "signature": str}),
    "redacted_thinking": Fields({"data": str}),
    "tool_use": Fields({"id": str, "name": str, "input": dict}, {**_CACHE, "caller": dict, "toolset_name": str}),
    "tool_result": Fields({"tool_use_id": str}, {**_CACHE, "content": TextOr(Each(_IN_RESULTS)), "is_error": bool, "toolset_name": str}),
    "server_tool_use": _SERVER_CALL,
    "mcp_tool_use": _SERVER_CALL,
    "container_upload": Fields({"file_id": str}, _CACHE),
}
_FORMS = {kind: form.beside({"type": str}) for kind, form in _FORMS.items()}
"""The members of a block of each type."""
_RESULTS = (
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_result", "advisor_tool_result",
)  # fmt: skip
_OF_ASSISTANT = frozenset(
    ("thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use", "compaction", "fallback",
     "mcp_tool_listing", *_RESULTS)
)  # fmt: skip
_OF_USER = {"tool_result": USER_ONLY, "image": PICTURE_BY_ASSISTANT, "document": PICTURE_BY_ASSISTANT}
"""The rule that a block breaks in a message of another role than user."""
BLOCKS = frozenset((*_FORMS, *_OF_ASSISTANT, "tool_addition", "tool_removal"))
_FIELDS = frozenset(
    ("role", "content", "id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container",
     "context_management", "diagnostics", "input_transformations")
)  # fmt: skip
"""The members of a message. Those other than role and content belong to an answer and are not sent back."""


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if value is not None:
        yield from in_blocks(message, _faults(message, value), "content")


def check_session(message: Message) -> Iterator[WireFault]:
    """Check a message of a session, whose lines contain it in pieces under `message`. Only its role and content are sent."""
    before = 0
    for fragment in message.source:
        line = value_of(fragment)
        inner = line.get("message") if isinstance(line, dict) else None
        if isinstance(inner, dict):
            content = inner.get("content")
            blocks = fragment.blocks or tuple(range(len(content) if isinstance(content, list) else 1))
            for rule, place, what in _content_faults(content, inner.get("role")):
                if not place:
                    yield WireFault("", None, what, rule=rule)
                elif place[1] in blocks:
                    yield WireFault("", before + blocks.index(int(place[1])), what, rule=rule)
            before += len(blocks)


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
        rule = NO_CONTENT if content is None else CONTENT
        yield rule, (), f"has {kind_name(content)} as content"
        return
    for index, block in enumerate(content):
        yield from _block_faults(block, ("content", index), role)


def _block_faults(block: Any, place: Pointer, role: Any) -> Iterator[Fault]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        yield BLOCK, place, f"has {kind_name(block)} without a type in its content"
    elif kind not in BLOCKS:
        rule = BLOCK if kind in PART_TYPES else NOT_UNDERSTOOD
        yield (
            rule,
            place,
            f"contains a part of the kind “{kind[:40]}”, which {'the API does not accept' if rule is BLOCK else 'is not checked'}",
        )
    elif kind in _OF_ASSISTANT and role != "assistant":
        yield ASSISTANT_ONLY, place, f"has the role {role} and contains a block of type {kind}"
    elif kind in _OF_USER and role != "user":
        yield _OF_USER[kind], place, f"has the role {role} and contains a block of type {kind}"
    else:
        yield from _member_faults(block, kind, place)


def _member_faults(block: Mapping[str, Any], kind: str, place: Pointer) -> Iterator[Fault]:
    if kind == SERVER_CALL and isinstance(block.get("id"), str) and not SERVER_ID_FORM.fullmatch(block["id"]):
        yield SERVER_ID, place, f"has the id “{block['id'][:40]}” for a call of the API's own tool"
    if kind == "tool_result" and block.get("is_error") is True and not block.get("content"):
        yield NO_CONTENT_OF_ERROR, place, "has an error result without content"
    form = _FORMS.get(kind)
    if form is not None:
        yield from faults_of(misfits(block, form, place), MEMBER, VALUE, f"a block of type {kind}")
