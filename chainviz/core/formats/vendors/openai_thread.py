"""Messages of a thread as the OpenAI Assistants API lists them: the newest comes first, so the chain goes by their times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import parse, span_of
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, ListSpan, Pointer, Sample, Span
from chainviz.core.formats.read_only import HEAD
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, inner, unknown

_OBJECT = "thread.message"


class OpenAIThread(ReadOnlyUnits):
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
        return (_found(source, text, at, listed),)

    def messages_in(self, value: Any) -> Sequence[Said]:
        return [(value["role"], [*_parts(value)])]


def _found(source: Source, text: str, at: Pointer, listed: list[dict[str, Any]]) -> FoundList:
    spans = []
    for place in range(len(listed)):
        start, end = span_of(text, (*at, place)) or (0, 0)
        spans.append(Span(byte_length(text[:start]), byte_length(text[:end])))
    # of equal times the later one in the list is the older one
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
