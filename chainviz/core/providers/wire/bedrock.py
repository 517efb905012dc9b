"""The JSON of Converse messages (botocore, bedrock-runtime): blocks are unions with one known key."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.documents.units import Pointer
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules.rule import ALL_MODELS, Rule
from chainviz.core.providers.wire.forms import Each, Fields, Form, OneOf, Words, faults_of, misfits
from chainviz.core.providers.wire.message import Fault, in_blocks, kind_name, sent_value, unknown_members

REFERENCE = "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html"
bedrock_rule = partial(Rule, models=ALL_MODELS, since="2024-05", checked="2026-11-23")
CONTENT = bedrock_rule(
    "content-type", "error", "Invalid type for parameter messages.content, valid types: list, tuple", REFERENCE
)
BLOCK = bedrock_rule(
    "part-twofold", "error", "Invalid number of parameters set for tagged union structure messages.content. Can only set one of the keys",
    REFERENCE,
)  # fmt: skip
FAILED_RESULT = bedrock_rule(
    "result-empty",
    "error",
    "The content field of a toolResult with the status error is empty. Add text and try again.",
    REFERENCE,
)

MEMBER = bedrock_rule("member-missing", "error", "Missing required parameter in messages.content", REFERENCE)
VALUE = bedrock_rule("field-type", "error", "Invalid type or value for parameter messages.content", REFERENCE)
USER_ONLY = bedrock_rule(
    "part-role", "error", "Images, documents and videos can only be in messages with the role user", REFERENCE
)
TOO_MANY = bedrock_rule("parts-too-many", "error", "Too many images or documents in a message", "botocore, Message")
LONELY_DOCUMENT = bedrock_rule(
    "document-without-text", "error", "A text block is required when a document block is included in the message.",
    "botocore, Message",
)  # fmt: skip

RULES = (CONTENT, BLOCK, FAILED_RESULT, MEMBER, VALUE, USER_ONLY, TOO_MANY, LONELY_DOCUMENT)
_SOURCE: dict[str, Form] = {"bytes": str, "s3Location": Fields({"uri": str}, {"bucketOwner": str})}
_IMAGE = Fields({"format": Words(("png", "jpeg", "gif", "webp")), "source": OneOf(_SOURCE)})
_DOCUMENT = Fields(
    {"name": str, "source": OneOf({**_SOURCE, "text": str, "content": Each(Fields({"text": str}))})},
    {
        "format": Words(("pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md")),
        "context": str,
        "citations": Fields({"enabled": bool}),
    },
)
_VIDEO = Fields({"format": str, "source": OneOf(_SOURCE)})
_RESULT = OneOf(
    {"text": str, "json": object, "image": _IMAGE, "document": _DOCUMENT, "video": _VIDEO, "searchResult": dict}
)
_FORMS: dict[str, Form] = {
    "text": str,
    "image": _IMAGE,
    "document": _DOCUMENT,
    "video": _VIDEO,
    "audio": _VIDEO,
    "toolUse": Fields({"toolUseId": str, "name": str, "input": object}, {"type": Words(("server_tool_use",))}),
    "toolResult": Fields(
        {"toolUseId": str, "content": Each(_RESULT)}, {"status": Words(("success", "error")), "type": str}
    ),
    "reasoningContent": OneOf(
        {"reasoningText": Fields({"text": str}, {"signature": str}), "redactedContent": str}
    ),
    "cachePoint": Fields({"type": Words(("default",))}, {"ttl": Words(("5m", "1h"))}),
}  # fmt: skip
"""The members of the blocks that are looked into."""
_OF_USER = frozenset(("image", "document", "video", "audio"))
_MOST = {"image": 20, "document": 5}
_BLOCKS = (
    "text", "image", "document", "video", "audio", "toolUse", "toolResult", "reasoningContent", "guardContent", "cachePoint",
    "citationsContent", "searchResult", "toolAddition", "toolRemoval",
)  # fmt: skip
KINDS = frozenset(_BLOCKS)


def check_wire(message: Message) -> Iterator[WireFault]:
    value = sent_value(message)
    if isinstance(value, dict) and message.source[0].ordinal != SLOT:
        yield from in_blocks(message, _faults(value), "content")


def has_own_unit(message: Message) -> bool:
    """Whether a message of the request begins with it; one may give several, of results and of texts."""
    blocks = message.source[0].blocks if message.source else None
    return blocks is None or 0 in blocks


def _faults(value: dict[str, Any]) -> Iterator[Fault]:
    yield from unknown_members(value, ("role", "content"))
    content = value.get("content")
    if not isinstance(content, list):
        yield CONTENT, (), f"has {kind_name(content)} as content"
        return
    yield from _count_faults([key for block in content if isinstance(block, dict) for key in block])
    for index, block in enumerate(content):
        yield from _block_faults(block, ("content", index), value.get("role"))


def _count_faults(kinds: list[str]) -> Iterator[Fault]:
    for kind, most in _MOST.items():
        if kinds.count(kind) > most:
            yield TOO_MANY, (), f"contains {kinds.count(kind)} {kind}s, more than {most}"
    if "document" in kinds and "text" not in kinds:
        yield LONELY_DOCUMENT, (), "contains a document and no text"


def _block_faults(block: Any, place: Pointer, role: Any) -> Iterator[Fault]:
    keys = list(block) if isinstance(block, dict) else []
    known = [key for key in keys if key in KINDS]
    if not isinstance(block, dict) or len(known) > 1 or not keys:
        yield BLOCK, place, f"has {kind_name(block)} with {len(known)} contents in one block"
    elif not known:
        yield NOT_UNDERSTOOD, place, f"contains a block “{keys[0][:40]}”, which is not checked"
    elif known[0] in _OF_USER and role != "user":
        yield USER_ONLY, place, f"has the role {role} and contains a block “{known[0]}”"
    elif _is_empty_error(block.get("toolResult")):
        yield FAILED_RESULT, place, "has an error result without content"
    else:
        yield from _member_faults(block, known[0], place)


def _member_faults(block: dict[str, Any], kind: str, place: Pointer) -> Iterator[Fault]:
    found = misfits(block, Fields({kind: _FORMS.get(kind, dict)}), place)
    yield from faults_of(found, MEMBER, VALUE, f"a block “{kind}”")


def _is_empty_error(result: Any) -> bool:
    return isinstance(result, dict) and result.get("status") == "error" and result.get("content") == []
