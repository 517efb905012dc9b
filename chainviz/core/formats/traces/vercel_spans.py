"""Spans of the Vercel AI SDK: `ai.prompt.messages` is what a model was asked, as JSON in a string, and `ai.response.text`,
`ai.response.toolCalls` and so on are its answer. The registry passes in the format of the messages.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chainviz.core.chain.messages import Fragment, Message, Part, Role, Text, Thinking, ToolCall
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.documents.json.edit import dump
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Unit
from chainviz.core.formats.leaf_format import LeafFormat
from chainviz.core.formats.read_only import said
from chainviz.core.formats.traces.flat_attributes import FlatAttributes, attribute_of

_ANSWER = ("text", "object", "toolCalls", "reasoning")


class VercelSpans(FlatAttributes):
    name = "vercel_spans"
    label = "Vercel AI SDK spans"
    tested_with = "spans of ai 5, 6"
    attribute = attribute_of(rf"ai\.(prompt|response)()\.?((?:messages|{'|'.join(_ANSWER)})?)")
    marks = ('"ai.prompt.messages"', '"ai.prompt"')

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """The spans of the calls of a model; those around them, which repeat question and answer, count where there are no others."""
        found = super().find(source)
        inner = [each for each in found if b'"ai.prompt.messages"' in source.read(each.region.start, each.region.end)]
        return tuple(inner) or found

    def __init__(self, dialect: LeafFormat) -> None:
        self.dialect = dialect

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            found = self._said(unit.text) if isinstance(unit.value, str) else []
            if not found:
                yield unit
            for place, (word, parts) in enumerate(found):
                yield said(word, parts, (unit.fragment((place,)),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        place = source[0].blocks[0] if source[0].blocks else 0
        word, parts = self._said(source[0].text)[place]
        return said(word, parts, source)

    def join(self, fragments: Sequence[Fragment]) -> str:
        return fragments[0].text

    def _said(self, text: str) -> list[tuple[str, list[Part]]]:
        """The messages of the question, or the answer, whichever the text spells."""
        values = self._attributes(text)
        if "" in values and "messages" not in values:
            return self._asked(_decoded(values[""]))
        if "messages" not in values:
            parts = list(_answer(values))
            return [("assistant", parts)] if parts else []
        return self._asked({"messages": _decoded(values["messages"])})

    def _asked(self, request: Any) -> list[tuple[str, list[Part]]]:
        """The messages of a request: its system text, its prompt or its list."""
        texts = [(role, text) for role, key in (("system", "system"), ("user", "prompt")) if (text := string_of(request, key))]
        asked = [each for each in objects_of(request, "messages") if self.dialect.runs(each)]
        said_texts: list[tuple[str, list[Part]]] = [(role, [Text(text)]) for role, text in texts]
        return [*said_texts, *((string_of(each, "role"), self._parts(each)) for each in asked)]

    def _parts(self, message: dict[str, Any]) -> list[Part]:
        text = dump(message)
        return [located.part for run in self.dialect.runs(message) for located in self.dialect.locate(message, text, run)]


def _answer(values: Mapping[str, str]) -> Iterator[Part]:
    if values.get("reasoning"):
        yield Thinking(values["reasoning"])
    content = values.get("text") or values.get("object")
    if content:
        yield Text(content)
    for call in objects_of({"calls": _decoded(values.get("toolCalls", ""))}, "calls"):
        arguments = call["input"] if "input" in call else call.get("args")
        shown = arguments if isinstance(arguments, str) else dump(arguments if arguments is not None else {})
        yield ToolCall(string_of(call, "toolCallId"), string_of(call, "toolName"), shown)


def _decoded(text: str) -> Any:
    """The value that a string spells; None where it spells none."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
