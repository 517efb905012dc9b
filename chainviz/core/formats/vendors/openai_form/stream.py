"""Join the streams of OpenAI's Chat Completions, of the many compatible servers (Mistral's contents are lists), and of Responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.dialects.values import string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.streams import Chunk, Chunks, Joined, append_text, index_of, list_at, object_at

_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_MISTRAL = ("mistral", "magistral", "ministral", "codestral", "devstral", "pixtral", "voxtral", "open-mi")


def _choices(chunks: Sequence[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        yield from (choice for choice in list_at(chunk, "choices") if type(choice) is dict)


def _join_chat(chunks: Sequence[Chunk]) -> Joined:
    """Join the chunks of the first choice. If there are several choices, the note of the message says so."""
    message: Chunk = {"role": "assistant", "content": None}
    calls: dict[int, Chunk] = {}
    reason, choices = "", 1
    for choice in _choices(chunks):
        index = index_of(choice) or 0
        choices = max(choices, index + 1)
        if index:
            continue
        delta = object_at(choice, "delta")
        reason = string_of(choice, "finish_reason") or reason
        for key in _TEXTS:
            _add_content(message, key, delta.get(key))
        for place, piece in enumerate(list_at(delta, "tool_calls")):
            at = index_of(piece) if type(piece) is dict else None
            _add_call(calls.setdefault(place if at is None else at, {}), piece)
        if object_at(delta, "function_call"):
            _add_function(message.setdefault("function_call", {}), object_at(delta, "function_call"))
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    note = f"{reason}, the first of {choices} choices".lstrip(", ") if choices > 1 else reason
    return Joined((dump(message),), note)


def _add_content(message: Chunk, key: str, content: Any) -> None:
    """Append a piece of content: a text, or a list of parts. A text or thought continues the part before it."""
    before = message.get(key)
    if type(content) is not list and type(before) is not list:
        if content is not None:
            append_text(message, key, content)
        return
    parts = [{"type": "text", "text": before}] if type(before) is str and before else list_at(message, key)
    for piece in content if type(content) is list else [{"type": "text", "text": content}] if content else []:
        _add_part(parts, piece)
    message[key] = parts


def _add_part(parts: list[Any], piece: Any) -> None:
    last = parts[-1] if parts and type(parts[-1]) is dict else {}
    kind = string_of(piece, "type")
    if kind == "text" and string_of(last, "type") == kind:
        append_text(last, "text", piece.get("text"))
    elif kind == "thinking" and string_of(last, "type") == kind:
        inner = list_at(last, kind)
        for each in list_at(piece, kind):
            _add_part(inner, each)
        last |= {key: value for key, value in piece.items() if key != kind}
    else:
        parts.append(piece)


def _add_call(call: Chunk, piece: Any) -> None:
    if type(piece) is not dict:
        return
    call |= {key: piece[key] for key in ("id", "type") if piece.get(key)}
    _add_function(call.setdefault("function", {}), object_at(piece, "function"))


def _add_function(function: Chunk, piece: Chunk) -> None:
    for key in ("name", "arguments"):
        append_text(function, key, piece.get(key))


def _is_chat(chunk: Chunk) -> bool:
    return chunk.get("object") == "chat.completion.chunk"


def _is_mistral(chunk: Chunk) -> bool:
    """Return True for a chunk of Mistral, which alone streams lists of parts."""
    lists = any(list_at(object_at(choice, "delta"), "content") for choice in _choices([chunk]))
    return lists or string_of(chunk, "model").startswith(_MISTRAL)


CHAT = Chunks(is_chunk=_is_chat, joined=_join_chat, key=lambda chunk: string_of(chunk, "id"), answer_at=("choices", 0, "message"))
MISTRAL = Chunks(is_chunk=_is_chat, joined=_join_chat, key=lambda chunk: string_of(chunk, "id"), is_proof=_is_mistral)

# Responses

_ITEM_DELTAS = {
    "response.output_text.delta": ("content", "text"),
    "response.refusal.delta": ("content", "refusal"),
    "response.reasoning_summary_text.delta": ("summary", "text"),
    "response.reasoning_text.delta": ("content", "text"),
    "response.function_call_arguments.delta": ("", "arguments"),
    "response.custom_tool_call_input.delta": ("", "input"),
}
_BLOCK_TYPES = {
    "response.output_text.delta": "output_text", "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "summary_text", "response.reasoning_text.delta": "reasoning_text",
}  # fmt: skip


def _join_responses(chunks: Sequence[Chunk]) -> Joined:
    """Join the items of a response. An item that did not end has the pieces that arrived."""
    items: dict[int, Chunk] = {}
    done: set[int] = set()
    note = ""
    for chunk in chunks:
        kind, at = string_of(chunk, "type"), index_of(chunk, "output_index")
        if at is not None and kind in ("response.output_item.added", "response.output_item.done"):
            items[at] = dict(object_at(chunk, "item"))
            done |= {at} if kind.endswith(".done") else set()
        elif at is not None and kind in _ITEM_DELTAS and at not in done:
            _add_delta(items.setdefault(at, {"type": "message", "role": "assistant", "content": []}), kind, chunk)
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            response = object_at(chunk, "response")
            items = dict(enumerate(list_at(response, "output"))) or items
            note = "" if kind == "response.completed" else kind.removeprefix("response.")
    return Joined(tuple(dump(items[at]) for at in sorted(items)), note)


def _add_delta(item: Chunk, kind: str, chunk: Chunk) -> None:
    holder_key, key = _ITEM_DELTAS[kind]
    if not holder_key:
        append_text(item, key, chunk.get("delta"))
        return
    index = chunk.get("content_index", chunk.get("summary_index", 0))
    blocks = item[holder_key] = list(list_at(item, holder_key))
    if index == len(blocks):
        blocks.append({"type": _BLOCK_TYPES[kind], key: ""})
    if type(index) is int and 0 <= index < len(blocks) and type(blocks[index]) is dict:
        append_text(blocks[index], key, chunk.get("delta"))


RESPONSES = Chunks(
    # the Realtime API's events have the same types, but each has an id; sequence numbers exist since May 2025
    is_chunk=lambda chunk: string_of(chunk, "type").startswith("response.") and "event_id" not in chunk,
    joined=_join_responses,
    opens=lambda chunk: chunk.get("type") == "response.created",
    answer_at=("output",),
)
