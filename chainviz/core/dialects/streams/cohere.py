"""The streams of Cohere's chat: version 2, whose pieces lie in `delta.message`, and version 1, whose pieces are texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.dialects.streams.chunks import Chunk, Chunks, Joined, append_text, index_of, list_at, object_at
from chainviz.core.documents.json.edit import dump

_TYPES = frozenset(
    ("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start", "tool-call-delta",
     "tool-call-end", "citation-start", "citation-end", "message-end")
)  # fmt: skip


def _join(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {"role": "assistant"}
    blocks: dict[int, Chunk] = {}
    calls: dict[int, Chunk] = {}
    reason = ""
    for chunk in chunks:
        delta = object_at(chunk, "delta")
        reason = string_of(delta, "finish_reason") or reason
        said = object_at(delta, "message")
        append_text(message, "tool_plan", said.get("tool_plan") or None)
        index = index_of(chunk)
        if index is None:
            continue
        if object_at(said, "content"):
            _add_content(blocks.setdefault(index, {}), said["content"])
        for call in (object_at(said, "tool_calls"), *objects_of(said, "tool_calls")):
            _add_call(calls.setdefault(index, {}), call) if call else None
    message["content"] = [blocks[index] for index in sorted(blocks)]
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return Joined((dump(message),), "" if reason == "COMPLETE" else reason)


def _add_content(block: Chunk, piece: Chunk) -> None:
    for key in ("text", "thinking"):
        if key in piece:
            append_text(block, key, piece[key])
    kind = string_of(piece, "type") or string_of(block, "type") or ("thinking" if "thinking" in block else "text")
    block["type"] = kind


def _add_call(call: Chunk, piece: Chunk) -> None:
    call |= {key: value for key, value in piece.items() if key != "function"}
    function = call.setdefault("function", {})
    for key in ("name", "arguments"):
        append_text(function, key, object_at(piece, "function").get(key))


COHERE = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "type") in _TYPES,
    joined=_join,
    opens=lambda chunk: chunk.get("type") == "message-start",
)

# version 1

_V1_TYPES = frozenset(
    ("stream-start", "text-generation", "citation-generation", "search-queries-generation", "search-results", "tool-calls-chunk",
     "tool-calls-generation", "stream-end")
)  # fmt: skip


def _join_v1(chunks: Sequence[Chunk]) -> Joined:
    text, reason = "", ""
    calls: list[Any] = []
    for chunk in chunks:
        kind = string_of(chunk, "event_type")
        text += string_of(chunk, "text") if kind == "text-generation" else ""
        calls = list_at(chunk, "tool_calls") or calls
        if kind == "stream-end":
            reason = string_of(chunk, "finish_reason")
            text = string_of(object_at(chunk, "response"), "text") or text
    message = {"role": "CHATBOT", "message": text} | ({"tool_calls": calls} if calls else {})
    return Joined((dump(message),), "" if reason == "COMPLETE" else reason)


COHERE_V1 = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "event_type") in _V1_TYPES,
    joined=_join_v1,
    opens=lambda chunk: chunk.get("event_type") == "stream-start",
)
