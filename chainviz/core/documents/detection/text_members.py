"""Members of a document that hold a message as a plain string, beside or instead of a list: the `input` of an OpenAI Responses
request, the `message` of Cohere's chat API v1."""

from __future__ import annotations

from collections.abc import Sequence

from chainviz.core.documents.detection.find_lists import Frame, Place, Step
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.scan import byte_length
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import Span, TextMember

LARGEST = 1 << 20
"""Bytes of a document that is looked into: a longer one has lists."""


def text_places(source: Source, document: Span, places: Sequence[Place], members: Sequence[TextMember]) -> list[Place]:
    """The places of plain strings that are messages, each a member `KEY as text` of the document."""
    if document.end - document.start > LARGEST:
        return []
    text = source.text(document.start, document.end)
    wanted = [each for each in members if f'"{each.key}"' in text and any(f'"{key}"' in text for key in each.beside)]
    value = _object(text) if wanted else {}
    around = next((step.holder for place in places for step in place.steps if step.holder.start == document.start), None)
    holder = around or Frame(True, document.start, document.end)
    found = []
    for member in wanted:
        if type(value.get(member.key)) is not str or not any(key in value for key in member.beside):
            continue
        start, end = json_edit.span_of(text, (member.key,)) or (0, 0)
        first, last = (document.start + byte_length(text[:at]) for at in (start, end))
        found.append(Place((member.key,), first, last, (Step(member.name, holder, 0),), single=True, is_text=True))
    return found


def _object(text: str) -> dict[str, object]:
    try:
        value = json_edit.parse(text)
    except (ValueError, RecursionError):
        return {}
    return value if type(value) is dict else {}
