"""The streams of Gemini: pieces of an answer (generateContent), and the steps of an interaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.dialects.values import string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.formats.streams import Chunk, Chunks, Joined, append_text, index_of, list_at, object_at, with_arguments


def _answer(chunk: Chunk) -> Chunk:
    """Return the API's chunk. Code Assist, the service behind Gemini CLI, wraps it in `response`; so does a line of a batch, which
    also has the request."""
    return chunk if "candidates" in chunk else {} if "request" in chunk else object_at(chunk, "response")


def _reason(candidate: Any) -> str:
    return string_of(candidate, "finishReason") or string_of(candidate, "finish_reason")


def _join(chunks: Sequence[Chunk]) -> Joined:
    """Join consecutive texts, and consecutive thoughts. A signature ends a text."""
    parts: list[Chunk] = []
    reason = ""
    for candidate in [next(iter(list_at(_answer(chunk), "candidates")), None) for chunk in chunks]:
        reason = _reason(candidate) or reason
        for part in list_at(object_at(candidate, "content"), "parts"):
            last = parts[-1] if parts else {}
            if _is_plain(part) and _is_plain(last) and part.get("thought") == last.get("thought"):
                last["text"] += part["text"]
            else:
                parts.append(dict(part) if type(part) is dict else {})
    return Joined((dump({"role": "model", "parts": parts}),), "" if reason == "STOP" else reason)


def _is_plain(part: Any) -> bool:
    return type(part) is dict and type(part.get("text")) is str and set(part) <= {"text", "thought"}


GEMINI = Chunks(
    is_chunk=lambda chunk: type(_answer(chunk).get("candidates")) is list,
    joined=_join,
    key=lambda chunk: string_of(_answer(chunk), "responseId") or string_of(_answer(chunk), "response_id"),
    is_whole=lambda chunk: any(map(_reason, list_at(_answer(chunk), "candidates"))),
    answer_at=("candidates", 0, "content"),
)

# Interactions

_CONTENTS = ("text", "image", "audio", "video", "document")
_STEPS = {
    "text_annotation_delta": "model_output", "thought_summary": "thought", "thought_signature": "thought",
    "arguments_delta": "function_call",
}  # fmt: skip
"""The type of step for each type of delta. Any other delta has the type of its step."""
_OWN = ("interaction.", "step.", "content.")


def _join_steps(chunks: Sequence[Chunk]) -> Joined:
    """Return the steps from the last event or, if it lists none, from their pieces. Events of 2025 call a step `content`."""
    steps: dict[int, Chunk] = {}
    arguments: dict[int, str] = {}
    status = ""
    for chunk in chunks:
        interaction = object_at(chunk, "interaction")
        status = string_of(interaction, "status") or string_of(chunk, "status") or status
        if list_at(interaction, "steps"):
            return Joined(tuple(dump(step) for step in interaction["steps"] if type(step) is dict), _note(status))
        index, delta = index_of(chunk), object_at(chunk, "delta")
        if index is None:
            continue
        begun = object_at(chunk, "step") or object_at(chunk, "content")
        if begun:
            steps[index] = _step(begun)
        if delta:
            arguments[index] = arguments.get(index, "") + _add_delta(steps.setdefault(index, _step_of(delta)), delta)
    texts = (with_arguments(steps[index], "arguments", arguments.get(index, "")) for index in sorted(steps))
    return Joined(tuple(texts), _note(status))


def _note(status: str) -> str:
    return "" if status == "completed" else status


def _step(begun: Chunk) -> Chunk:
    """Return the step that its first event opens. A text or an image becomes a step of the model's output."""
    kind = string_of(begun, "type")
    if kind in _CONTENTS:
        return {"type": "model_output", "content": [dict(begun)] if len(begun) > 1 else []}
    return dict(begun)


def _step_of(delta: Chunk) -> Chunk:
    """Return a new step for a delta whose first event is missing."""
    kind = string_of(delta, "type")
    return {"type": "model_output" if kind in _CONTENTS else _STEPS.get(kind, kind)}


def _add_delta(step: Chunk, delta: Chunk) -> str:
    """Return the piece of a call's arguments in a delta; "" after adding any other delta to the step."""
    kind = string_of(delta, "type")
    if kind == "arguments_delta":
        return string_of(delta, "arguments") or string_of(delta, "partial_arguments")
    if kind in _CONTENTS:
        step["content"] = _with_piece(list_at(step, "content"), delta)
    elif kind == "thought_summary":
        step["summary"] = _with_piece(list_at(step, "summary"), object_at(delta, "content"))
    elif kind == "text_annotation_delta":
        blocks = list_at(step, "content")
        if blocks and type(blocks[-1]) is dict:
            blocks[-1]["annotations"] = [*list_at(blocks[-1], "annotations"), *list_at(delta, "annotations")]
    else:
        step |= {key: value for key, value in delta.items() if key != "type"}
    return ""


def _with_piece(blocks: list[Any], piece: Chunk) -> list[Any]:
    """Return the blocks with a piece added. A text continues the text before it."""
    last = blocks[-1] if blocks and type(blocks[-1]) is dict else {}
    if string_of(piece, "type") == string_of(last, "type") == "text":
        append_text(last, "text", piece.get("text"))
        return blocks
    return [*blocks, dict(piece)] if piece else blocks


INTERACTIONS = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "event_type").startswith(_OWN),
    joined=_join_steps,
    opens=lambda chunk: chunk.get("event_type") in ("interaction.created", "interaction.start"),
    answer_at=("steps",),
)
