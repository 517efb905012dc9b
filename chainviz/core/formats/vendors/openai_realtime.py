"""Events of an OpenAI Realtime session, one a line or in a list: the items that were added and those that the model ended.

The transcription of an item holds what a person said; other events are not messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner

_ADDED = ("conversation.item.created", "conversation.item.added")
_ENDED = "response.output_item.done"
_HEARD = "conversation.item.input_audio_transcription.completed"
_STARTS = ("session.created", "session.updated", "session.update")

_EVENTS = ("session.", "response.", "input_audio_buffer.", "output_audio_buffer.", "rate_limits.", "transcription_session.")


class OpenAIRealtime(ReadOnlyUnits):
    name = "openai_realtime"
    label = "OpenAI Realtime events"
    tested_with = "documentation of the Realtime API, 2024 and 2025"
    hints = ("event_id",)
    certainty = 0.98

    def is_message(self, value: object) -> bool:
        return string_of(value, "type") in (*_ADDED, _ENDED, _HEARD, *_STARTS) and "event_id" in value  # type: ignore[operator]

    def is_carried(self, value: object) -> bool:
        """An event that another one repeats when it ends, or that is not about an item."""
        kind = string_of(value, "type")
        if kind in _ADDED:
            return _is_repeated(inner(value, "item"))
        return kind != _ENDED and kind.startswith(_EVENTS)

    def messages_in(self, value: Any) -> Sequence[Said]:
        kind, item = value["type"], inner(value, "item")
        if kind == _HEARD:
            return [("user", [Text(string_of(value, "transcript"))])]
        if kind in _STARTS or (kind in _ADDED and _is_repeated(item)):
            return ()
        said = _said(item)
        return [said] if said[1] else ()


def _is_repeated(item: dict[str, Any]) -> bool:
    """Whether the event with which an item ends repeats it."""
    return string_of(item, "role") == "assistant" or string_of(item, "type") == "function_call"


def _said(item: dict[str, Any]) -> Said:
    kind = string_of(item, "type")
    if kind == "function_call":
        return "assistant", [ToolCall(string_of(item, "call_id"), string_of(item, "name"), as_text(item.get("arguments")))]
    if kind == "function_call_output":
        return "tool", [ToolResult(string_of(item, "call_id"), "", as_text(item.get("output")))]
    return string_of(item, "role"), [*_texts(item)]


def _texts(item: dict[str, Any]) -> Iterator[Part]:
    for block in objects_of(item, "content"):
        text = string_of(block, "text") or string_of(block, "transcript")
        if text:
            yield Text(text)
