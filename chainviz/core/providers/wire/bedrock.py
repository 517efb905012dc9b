"""The JSON of Converse messages (botocore, bedrock-runtime): blocks are unions with one known key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import SLOT, Message
from chainviz.core.providers.contract import NOT_UNDERSTOOD, WireFault
from chainviz.core.providers.rules.rule import Rule
from chainviz.core.providers.wire.message import Fault, in_blocks, kind_name, sent_value, unknown_members

REFERENCE = "docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html"
CONTENT = Rule(
    "content-type", "error", "Invalid type for parameter messages.content, valid types: list, tuple", REFERENCE
)
BLOCK = Rule(
    "part-twofold", "error", "Invalid number of parameters set for tagged union structure messages.content. Can only set one of the keys",
    REFERENCE,
)  # fmt: skip
FAILED_RESULT = Rule(
    "result-empty",
    "error",
    "The content field of a toolResult with the status error is empty. Add text and try again.",
    REFERENCE,
)

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
    for index, block in enumerate(content):
        place = ("content", index)
        keys = list(block) if isinstance(block, dict) else []
        known = [key for key in keys if key in KINDS]
        if not isinstance(block, dict) or len(known) > 1 or not keys:
            yield BLOCK, place, f"has {kind_name(block)} with {len(known)} contents in one block"
        elif not known:
            yield NOT_UNDERSTOOD, place, f"holds a block “{keys[0][:40]}”, which is not checked"
        elif _is_empty_error(block.get("toolResult")):
            yield FAILED_RESULT, place, "holds an error result without content"


def _is_empty_error(result: Any) -> bool:
    return isinstance(result, dict) and result.get("status") == "error" and not result.get("content")
