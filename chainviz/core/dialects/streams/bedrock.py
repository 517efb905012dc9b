"""The events of Bedrock's ConverseStream: objects whose one key says what they are."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.streams.chunks import (
    Chunk,
    Chunks,
    Joined,
    append_text,
    index_of,
    list_at,
    message_text,
    object_at,
    with_arguments,
)
from chainviz.core.documents.json.edit import dump

_MEMBERS = {
    "messageStart": "role", "contentBlockStart": "contentBlockIndex", "contentBlockDelta": "contentBlockIndex",
    "contentBlockStop": "contentBlockIndex", "messageStop": "stopReason",
}  # fmt: skip
"""Each event with the member that it always has."""


def _join(chunks: Sequence[Chunk]) -> Joined:
    blocks: dict[int, Chunk] = {}
    inputs: dict[int, str] = {}
    reason = ""
    for chunk in chunks:
        start, delta = object_at(chunk, "contentBlockStart"), object_at(chunk, "contentBlockDelta")
        reason = string_of(object_at(chunk, "messageStop"), "stopReason") or reason
        index = index_of(start or delta, "contentBlockIndex")
        if index is None:
            continue
        if start:
            blocks[index] = {key: dict(value) for key, value in object_at(start, "start").items() if type(value) is dict}
        else:
            inputs[index] = inputs.get(index, "") + _add_delta(blocks.setdefault(index, {}), object_at(delta, "delta"))
    texts = [_block_text(blocks[index], inputs.get(index, "")) for index in sorted(blocks) if blocks[index]]
    return Joined((message_text({}, texts),), "" if reason == "end_turn" else reason)


def _add_delta(block: Chunk, delta: Chunk) -> str:
    """The piece of a call's input that the delta holds; anything else goes into the block."""
    append_text(block, "text", delta.get("text"))
    thought = object_at(delta, "reasoningContent")
    if thought:
        _add_thought(block.setdefault("reasoningContent", {}), thought)
    if "citation" in delta:
        cited = block.setdefault("citationsContent", {"content": [], "citations": []})
        cited["citations"].append(delta["citation"])
    if list_at(delta, "toolResult"):
        result = block.setdefault("toolResult", {})
        result["content"] = [*list_at(result, "content"), *list_at(delta, "toolResult")]
    if object_at(delta, "image"):
        block.setdefault("image", {}).update(object_at(delta, "image"))
    return string_of(object_at(delta, "toolUse"), "input")


def _add_thought(holder: Chunk, thought: Chunk) -> None:
    if "redactedContent" in thought:
        append_text(holder, "redactedContent", thought["redactedContent"])
        return
    for key in ("text", "signature"):
        if key in thought:
            append_text(holder.setdefault("reasoningText", {}), key, thought[key])


def _block_text(block: Chunk, arguments: str) -> str:
    if "toolUse" in block:
        return f'{{"toolUse": {with_arguments({"input": {}, **block["toolUse"]}, "input", arguments)}}}'
    cited = block.get("citationsContent")
    if cited and "text" in block:
        return dump({"citationsContent": {**cited, "content": [{"text": block["text"]}]}})
    return dump(block)


def _is_event(chunk: Chunk) -> bool:
    return any(member in object_at(chunk, key) for key, member in _MEMBERS.items())


BEDROCK = Chunks(is_chunk=_is_event, joined=_join, opens=lambda chunk: "messageStart" in chunk)
