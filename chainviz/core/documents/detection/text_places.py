"""Find messages that are plain strings, beside or instead of a list: the `input` of an OpenAI Responses request, or the `message` of
Cohere's chat API v1. Searches the document and the requests inside a log or a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.documents.detection.find_lists import Frame, Place, Step
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Pointer, Span, TextMember

LARGEST = 1 << 20
"""The largest document, in bytes, that is searched. Larger ones have lists."""
REQUESTS = frozenset(("request", "body", "request_body", "samples"))
"""Members with a request, or with a list of documents."""


def text_places(source: Source, document: Span, places: Sequence[Place], members: Sequence[TextMember], base: Pointer = ()) -> list[Place]:
    """Return the places of plain strings that are messages, each a member `KEY as text` of its object."""
    if document.end - document.start > LARGEST:
        return []
    text = source.text(document.start, document.end)
    wanted = [each for each in members if re.search(rf'"{each.key}"\s*:\s*"', text) and any(f'"{key}"' in text for key in each.beside)]
    frames = {step.holder.start: step.holder for place in places for step in place.steps}

    def frame_at(pointer: Pointer) -> Frame:
        start, end = (document.start + byte_length(text[:at]) for at in json_edit.span_of(text, pointer) or (0, 0))
        return frames.setdefault(start, Frame(True, start, end))

    found = []
    for pointer, member in _texts(_parsed(text) if wanted else None, wanted):
        start, end = (document.start + byte_length(text[:at]) for at in json_edit.span_of(text, pointer) or (0, 0))
        keys = [place for place, step in enumerate(pointer) if isinstance(step, str)]
        names = [str(pointer[place]) for place in keys[:-1]] + [member.name]
        steps = (Step(name, frame_at(pointer[:place]), len(base) + place) for name, place in zip(names, keys, strict=True))
        found.append(Place((*base, *pointer), start, end, tuple(steps), single=True, is_text=True))
    return found


def _texts(value: Any, wanted: Sequence[TextMember], pointer: Pointer = ()) -> Iterator[tuple[Pointer, TextMember]]:
    if isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, wanted, (*pointer, number))
    if not isinstance(value, dict):
        return
    for member in wanted:
        if isinstance(value.get(member.key), str) and any(key in value for key in member.beside):
            yield (*pointer, member.key), member
    for key in REQUESTS & value.keys():
        yield from _texts(value[key], wanted, (*pointer, key))


def _parsed(text: str) -> Any:
    try:
        return json_edit.parse(text)
    except (ValueError, RecursionError):
        return None
