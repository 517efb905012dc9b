"""Events of an OpenAI Realtime session, one a line or in a list: the items that were added and those that the model ended.

The transcription of an item holds what a person said; other events are not messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, items, word

_ADDED = ("conversation.item.created", "conversation.item.added")
_ENDED = "response.output_item.done"
_HEARD = "conversation.item.input_audio_transcription.completed"
_STARTS = ("session.created", "session.updated", "session.update")


class OpenAIRealtime(ReadOnlyUnits):
    name = "openai_realtime"
    label = "OpenAI Realtime events"
    tested_with = "documentation of the Realtime API, 2024 and 2025"
    hints = ("event_id",)
    certainty = 0.98

    def is_message(self, value: object) -> bool:
        return word(value, "type") in (*_ADDED, _ENDED, _HEARD, *_STARTS) and "event_id" in value  # type: ignore[operator]

    def messages_in(self, value: Any) -> Sequence[Said]:
        kind, item = value["type"], inner(value, "item")
        if kind == _HEARD:
            return [("user", [Text(word(value, "transcript"))])]
        if kind in _ADDED and (word(item, "role") == "assistant" or word(item, "type") == "function_call"):
            return ()  # its end repeats it
        if kind in _STARTS:
            return ()
        said = _said(item)
        return [said] if said[1] else ()


def _said(item: dict[str, Any]) -> Said:
    kind = word(item, "type")
    if kind == "function_call":
        return "assistant", [ToolCall(word(item, "call_id"), word(item, "name"), as_text(item.get("arguments")))]
    if kind == "function_call_output":
        return "tool", [ToolResult(word(item, "call_id"), "", as_text(item.get("output")))]
    return word(item, "role"), [*_texts(item)]


def _texts(item: dict[str, Any]) -> Iterator[Part]:
    for block in items(item, "content"):
        text = word(block, "text") or word(block, "transcript")
        if text:
            yield Text(text)
