"""OpenAI: threads of the Assistants API and events of Realtime sessions, both read only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import parse, span_of
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, ListSpan, Pointer, Sample, Span
from chainviz.core.formats.read_only import HEAD, ReadOnlyUnits, Turn, as_text, inner, unknown

_OBJECT = "thread.message"


class OpenAIThread(ReadOnlyUnits):
    """Messages of a thread in the order of the OpenAI Assistants API, newest first. The chain is sorted by time."""

    name = "openai_thread"
    label = "OpenAI Assistants thread"
    tested_with = "documentation of the Assistants API v2"
    hints = ("thread_id",)

    def is_message(self, value: object) -> bool:
        return string_of(value, "object") == _OBJECT and bool(string_of(value, "role"))

    def find(self, source: Source) -> tuple[FoundList, ...]:
        if source.size > RAW_LIMIT or f'"{_OBJECT}"' not in source.text(0, HEAD):
            return ()
        text = source.text(0, source.size)
        try:
            document = parse(text)
        except (ValueError, RecursionError):
            return ()
        at: Pointer = ("data",) if isinstance(document, dict) else ()
        listed = document.get("data") if isinstance(document, dict) else document
        if not isinstance(listed, list) or not all(map(self.is_message, listed)) or not listed:
            return ()
        times = [value.get("created_at") for value in listed]
        if not all(isinstance(time, int) for time in times) or times == sorted(times):
            return ()
        return (_list_of(source, text, at, listed),)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        return [(value["role"], [*_parts(value)])]


def _list_of(source: Source, text: str, at: Pointer, listed: list[dict[str, Any]]) -> FoundList:
    spans = []
    for place in range(len(listed)):
        start, end = span_of(text, (*at, place)) or (0, 0)
        spans.append(Span(byte_length(text[:start]), byte_length(text[:end])))
    # of two messages with the same time, the later one in the list is older
    order = sorted(range(len(listed)), key=lambda place: (listed[place]["created_at"], -place))
    lists = tuple(ListSpan(spans[place].start, spans[place].end, place, single=True) for place in order)
    sample = Sample(tuple(listed[place] for place in order[:16]), {}, "data")
    return FoundList(at, "", Span(0, source.size), spans[0].start, spans[-1].end, at, lists=lists, key="data", sample=sample)


def _parts(value: dict[str, Any]) -> Iterator[Part]:
    for item in objects_of(value, "content"):
        kind = string_of(item, "type")
        if kind == "text":
            yield Text(string_of(inner(item, "text"), "value"))
        elif kind == "image_url" and string_of(inner(item, "image_url"), "url"):
            yield Image(item["image_url"]["url"])
        else:
            yield unknown(item)


_ADDED = ("conversation.item.created", "conversation.item.added")
_ENDED = "response.output_item.done"
_HEARD = "conversation.item.input_audio_transcription.completed"
_STARTS = ("session.created", "session.updated", "session.update")

_EVENTS = ("session.", "response.", "input_audio_buffer.", "output_audio_buffer.", "rate_limits.", "transcription_session.")


class OpenAIRealtime(ReadOnlyUnits):
    """Events of an OpenAI Realtime session, in lines or a list. Items that were added, or that the model finished, are messages, and
    so are transcriptions of a person's speech. Other events are not.
    """

    name = "openai_realtime"
    label = "OpenAI Realtime events"
    tested_with = "documentation of the Realtime API, 2024 and 2025"
    hints = ("event_id",)
    certainty = 0.98

    def is_message(self, value: object) -> bool:
        return string_of(value, "type") in (*_ADDED, _ENDED, _HEARD, *_STARTS) and "event_id" in value  # type: ignore[operator]

    def is_carried(self, value: object) -> bool:
        """Return True for an event that is not about an item, or whose item a later event repeats."""
        kind = string_of(value, "type")
        if kind in _ADDED:
            return _is_repeated(inner(value, "item"))
        return kind != _ENDED and kind.startswith(_EVENTS)

    def messages_in(self, value: Any) -> Sequence[Turn]:
        kind, item = value["type"], inner(value, "item")
        if kind == _HEARD:
            return [("user", [Text(string_of(value, "transcript"))])]
        if kind in _STARTS or (kind in _ADDED and _is_repeated(item)):
            return ()
        said = _item_message(item)
        return [said] if said[1] else ()


def _is_repeated(item: dict[str, Any]) -> bool:
    """Return True if a later event, at the end of the item, repeats it."""
    return string_of(item, "role") == "assistant" or string_of(item, "type") == "function_call"


def _item_message(item: dict[str, Any]) -> Turn:
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
