"""The stream of Anthropic's Messages API."""

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

_TYPES = frozenset(
    ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "ping")
)  # fmt: skip
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def _join(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {}
    blocks: dict[int, Chunk] = {}
    inputs: dict[int, str] = {}
    for chunk in chunks:
        kind, delta, index = string_of(chunk, "type"), object_at(chunk, "delta"), index_of(chunk)
        if kind == "message_start":
            message |= object_at(chunk, "message")
        elif kind == "content_block_start" and index is not None:
            blocks[index] = dict(object_at(chunk, "content_block"))
        elif kind == "content_block_delta" and index is not None:
            block = blocks.setdefault(index, {"type": "text", "text": ""})
            inputs[index] = inputs.get(index, "") + _add_delta(block, delta)
        elif kind == "message_delta":
            message |= {key: value for key, value in delta.items() if value is not None}
    texts = [with_arguments(blocks[index], "input", inputs.get(index, "")) for index in sorted(blocks)]
    return Joined((message_text(message, texts),), string_of(message, "stop_reason"))


def _add_delta(block: Chunk, delta: Chunk) -> str:
    """The piece of a call's input that the delta holds; anything else goes into the block."""
    kind = string_of(delta, "type")
    if kind in _DELTAS:
        append_text(block, _DELTAS[kind], delta.get(_DELTAS[kind]))
    elif kind == "citations_delta":
        block["citations"] = [*list_at(block, "citations"), delta.get("citation")]
    return string_of(delta, "partial_json") if kind == "input_json_delta" else ""


ANTHROPIC = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "type") in _TYPES and "payload" not in chunk,
    joined=_join,
    opens=lambda chunk: chunk.get("type") == "message_start",
)
