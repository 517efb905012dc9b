"""The chunks of each provider's stream, joined into the units that its messages are made of.

A chunk that is unknown or cut off adds nothing. Arguments of a call are joined as text, so their spelling stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.dialects.blocks.anthropic_write import input_text
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import dump

Chunk = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Joined:
    units: tuple[str, ...]
    """JSON texts of the message's units."""
    note: str = ""
    """Why the message ended, or what is odd about it."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """One provider's chunks."""

    is_chunk: Callable[[Chunk], bool]
    key: Callable[[Chunk], str]
    """What all chunks of a message share; "" for a chunk that does not say. Another key begins another message."""
    joined: Callable[[Sequence[Chunk]], Joined]


def _dict(value: Any, key: str) -> Chunk:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is dict else {}


def _list(value: Any, key: str) -> list[Any]:
    found = value.get(key) if type(value) is dict else None
    return found if type(found) is list else []


def _add(holder: Chunk, key: str, text: Any) -> None:
    """Joins a piece of text to a member; None and "" say nothing, but a text that is there stays one."""
    before = holder.get(key)
    if type(text) is str and (text or before is None):
        holder[key] = (before if type(before) is str else "") + text


# Anthropic Messages

_ANTHROPIC = frozenset(
    ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop",
     "ping", "error")
)  # fmt: skip
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def _anthropic(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {"role": "assistant", "content": []}
    blocks: dict[int, Chunk] = {}
    inputs: dict[int, str] = {}
    note = ""
    for chunk in chunks:
        kind, delta = string_of(chunk, "type"), _dict(chunk, "delta")
        index = chunk.get("index")
        if kind == "message_start":
            message |= {key: value for key, value in _dict(chunk, "message").items() if key != "content"}
        elif kind == "content_block_start" and type(index) is int:
            blocks[index] = dict(_dict(chunk, "content_block"))
        elif kind == "content_block_delta" and type(index) is int:
            block = blocks.setdefault(index, {"type": "text", "text": ""})
            key = _DELTAS.get(string_of(delta, "type"), "")
            if key:
                _add(block, key, delta.get(key))
            elif string_of(delta, "type") == "input_json_delta":
                inputs[index] = inputs.get(index, "") + string_of(delta, "partial_json")
            elif string_of(delta, "type") == "citations_delta":
                block["citations"] = [*_list(block, "citations"), delta.get("citation")]
        elif kind == "message_delta":
            message |= {key: value for key, value in delta.items() if value is not None}
        elif kind == "error":
            note = f"error: {string_of(_dict(chunk, 'error'), 'type')}"
    texts = [_with_input(blocks[index], inputs.get(index, "")) for index in sorted(blocks)]
    unit = json_edit.load_object(dump({**message, "role": "assistant"}))  # whatever a chunk calls it
    unit.set("content", f"[{', '.join(texts)}]")
    return Joined((str(unit),), note or string_of(message, "stop_reason"))


def _with_input(block: Chunk, arguments: str) -> str:
    text = dump(block)
    if not arguments:
        return text
    unit = json_edit.load_object(text)
    unit.set("input", input_text(arguments, Speller("", True)))
    return str(unit)


ANTHROPIC = Chunks(
    lambda chunk: string_of(chunk, "type") in _ANTHROPIC and "payload" not in chunk,
    lambda chunk: string_of(_dict(chunk, "message"), "id") if chunk.get("type") == "message_start" else "",
    _anthropic,
)

# OpenAI Chat Completions


def _chat(chunks: Sequence[Chunk]) -> Joined:
    """The first choice; a stream of several says so."""
    message: Chunk = {"role": "assistant", "content": None}
    calls: dict[int, Chunk] = {}
    reason, choices = "", 1
    for choice in [choice for chunk in chunks for choice in _list(chunk, "choices") if type(choice) is dict]:
        index = choice.get("index")
        choices = max(choices, index + 1) if type(index) is int else choices
        if index:
            continue
        delta = _dict(choice, "delta")
        reason = string_of(choice, "finish_reason") or reason
        for key in ("content", "refusal", "reasoning_content", "reasoning"):
            if key in delta:
                _add(message, key, delta[key])
        for place, piece in enumerate(_list(delta, "tool_calls")):
            at = piece.get("index") if type(piece) is dict else None
            _add_call(calls.setdefault(at if type(at) is int else place, {}), piece)
        if _dict(delta, "function_call"):
            _add_function(message.setdefault("function_call", {}), _dict(delta, "function_call"))
    if calls:
        message["tool_calls"] = [calls[at] for at in sorted(calls)]
    note = f"{reason}, the first of {choices} choices".lstrip(", ") if choices > 1 else reason
    return Joined((dump(message),), note)


def _add_call(call: Chunk, piece: Any) -> None:
    if type(piece) is not dict:
        return
    call |= {key: piece[key] for key in ("id", "type") if piece.get(key)}
    _add_function(call.setdefault("function", {}), _dict(piece, "function"))


def _add_function(function: Chunk, piece: Chunk) -> None:
    for key in ("name", "arguments"):
        _add(function, key, piece.get(key))


CHAT = Chunks(lambda chunk: chunk.get("object") == "chat.completion.chunk", lambda chunk: string_of(chunk, "id"), _chat)

# OpenAI Responses

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


def _responses(chunks: Sequence[Chunk]) -> Joined:
    """Items as they ended; one that was cut off, as far as it came."""
    items: dict[int, Chunk] = {}
    done: set[int] = set()
    note = ""
    for chunk in chunks:
        kind, at = string_of(chunk, "type"), chunk.get("output_index")
        if type(at) is int and kind in ("response.output_item.added", "response.output_item.done"):
            items[at] = dict(_dict(chunk, "item"))
            done |= {at} if kind.endswith(".done") else set()
        elif type(at) is int and kind in _ITEM_DELTAS and at not in done:
            _add_delta(items.setdefault(at, {"type": "message", "role": "assistant", "content": []}), kind, chunk)
        elif kind in ("response.completed", "response.incomplete", "response.failed"):
            response = _dict(chunk, "response")
            items = dict(enumerate(_list(response, "output"))) or items
            note = "" if kind == "response.completed" else kind.removeprefix("response.")
        elif kind == "error":
            note = f"error: {string_of(chunk, 'code') or string_of(chunk, 'message')}"
    return Joined(tuple(dump(items[at]) for at in sorted(items)), note)


def _add_delta(item: Chunk, kind: str, chunk: Chunk) -> None:
    holder_key, key = _ITEM_DELTAS[kind]
    if not holder_key:
        _add(item, key, chunk.get("delta"))
        return
    index = chunk.get("content_index", chunk.get("summary_index", 0))
    blocks = item[holder_key] = list(_list(item, holder_key))
    if index == len(blocks):
        blocks.append({"type": _BLOCK_TYPES[kind], key: ""})
    if type(index) is int and 0 <= index < len(blocks) and type(blocks[index]) is dict:
        _add(blocks[index], key, chunk.get("delta"))


RESPONSES = Chunks(
    lambda chunk: string_of(chunk, "type").startswith("response.") and ("sequence_number" in chunk or "response" in chunk),
    lambda chunk: string_of(_dict(chunk, "response"), "id") if chunk.get("type") == "response.created" else "",
    _responses,
)

# Gemini generateContent


def _gemini(chunks: Sequence[Chunk]) -> Joined:
    """Texts that follow one another are one, thoughts apart; a signature ends a text."""
    parts: list[Chunk] = []
    reason = ""
    for candidate in [next(iter(_list(chunk, "candidates")), None) for chunk in chunks]:
        reason = string_of(candidate, "finishReason") or string_of(candidate, "finish_reason") or reason
        for part in _list(_dict(candidate, "content"), "parts"):
            last = parts[-1] if parts else {}
            if _is_plain(part) and _is_plain(last) and part.get("thought") == last.get("thought"):
                last["text"] += part["text"]
            else:
                parts.append(dict(part) if type(part) is dict else {})
    return Joined((dump({"role": "model", "parts": parts}),), "" if reason == "STOP" else reason)


def _is_plain(part: Any) -> bool:
    return type(part) is dict and type(part.get("text")) is str and set(part) <= {"text", "thought"}


GEMINI = Chunks(
    lambda chunk: type(chunk.get("candidates")) is list,
    lambda chunk: string_of(chunk, "responseId") or string_of(chunk, "response_id"),
    _gemini,
)
