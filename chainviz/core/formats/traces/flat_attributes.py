"""Formats that flatten the messages of an LLM call into attributes of its span, one attribute a field:
`llm.input_messages.0.message.role`, `gen_ai.completion.0.tool_calls.0.name`.

They are OTLP attributes `{"key": K, "value": {"stringValue": V}}` or members `K: V`. Each span with messages is a chain.
Attributes of one message follow one another; the messages may come in any order.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from chainviz.core.chain.messages import (
    TOOL,
    Fragment,
    Image,
    Message,
    Part,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, ListSpan, Span
from chainviz.core.formats.read_only import HEAD, ROLES, ReadOnly, said

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_NAME = re.compile(rb'"name"\s*:\s*"([^"\\]{1,60})"')
_CALL = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_CONTENT = re.compile(r"contents\.(\d+)\.message_content\.(type|text|image\.image\.url)")


_ANSWERS = (b"output", b"completion", b"response")


def attribute_of(key: str) -> re.Pattern[bytes]:
    """A string attribute whose key is like that, with groups for whether it is asked or answered, the message's number (empty
    where it has none), and the field."""
    value = rb'"\s*(?::|(,)\s*"value"\s*:\s*\{\s*"stringValue"\s*:)\s*("(?:[^"\\]++|\\.)*+")'
    return re.compile(b'"' + key.encode() + value, re.DOTALL)


class FlatAttributes(ReadOnly):
    attribute: re.Pattern[bytes]
    marks: tuple[str, ...]
    """What the beginning of a file with such spans holds one of."""

    def rate(self, head: str) -> float:
        return 0.97 if any(mark in head for mark in self.marks) else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        if source.size > RAW_LIMIT or not self.rate(source.text(0, HEAD)):
            return ()
        calls = [call for call in _calls(source.read(0, source.size), self.attribute) if call.is_parted]
        return tuple(self._found(source, call, place if len(calls) > 1 else -1) for place, call in enumerate(calls))

    def _found(self, source: Source, call: _Call, place: int) -> FoundList:
        spans = call.in_order
        in_file = sorted(spans, key=lambda span: span.start)
        lists = tuple(ListSpan(span.start, span.end, in_file.index(span)) for span in spans)
        name = _NAME.search(source.read(call.region.start, call.region.end))
        title = f"span {place + 1}" + (f" · {name[1].decode('utf-8', 'replace')}" if name else "") if place >= 0 else ""
        region = call.region if place >= 0 else Span(0, source.size)
        sample = self.sample(source.text(spans[0].start, spans[0].end))
        pointer = (place,) if place >= 0 else ()
        return FoundList(pointer, title, region, in_file[0].start, in_file[-1].end, raw=True, lists=lists, sample=sample)

    def stretches(self, text: str) -> Iterable[tuple[int, int]]:
        return [(0, len(text))] if self._attributes(text) else []

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        values = self._attributes(source[0].text)
        word = values.get("role", "")
        return said(word, _result(values) if ROLES.get(word) == TOOL else _parts(values), source)

    def _attributes(self, text: str) -> dict[str, str]:
        """What the attributes say, by the end of their keys."""
        found = self.attribute.finditer(text.encode("utf-8", "surrogatepass"))
        return {each[3].decode(): _string(each[5].decode("utf-8", "surrogatepass")) for each in found}


@dataclass(slots=True)
class _Call:
    """The messages of one span."""

    region: Span
    messages: dict[tuple[bool, int], Span] = field(default_factory=dict)

    @property
    def in_order(self) -> list[Span]:
        return [self.messages[key] for key in sorted(self.messages)]

    @property
    def is_parted(self) -> bool:
        """No message lies between the attributes of another."""
        spans = sorted(self.messages.values(), key=lambda span: span.start)
        return all(one.end <= other.start for one, other in pairwise(spans))


def _calls(text: bytes, attribute: re.Pattern[bytes]) -> Iterator[_Call]:
    """The spans with messages in the order in which their attributes begin."""
    stack: list[int] = []
    calls: dict[int, _Call] = {}
    ends: dict[int, int] = {}
    holders: dict[int, int] = {}
    """For each list or object of attributes, the span around it."""
    for token in _TOKEN.finditer(text):
        mark = text[token.start() : token.start() + 1]
        if mark in b"[{":
            stack.append(token.start())
        elif mark in b"]}":
            start = stack.pop() if stack else -1
            ends[start] = token.end()
        elif (found := attribute.match(text, token.start())) and stack:
            # an OTLP attribute is an element of the list that counts; the span is the object around that
            own = stack[:-1] if found[4] else stack
            if not own:
                continue
            call = calls.setdefault(own[-1], _Call(Span(0, 0)))
            holders[own[-1]] = own[-2] if len(own) > 1 and text[own[-2] : own[-2] + 1] == b"{" else own[-1]
            key = found[1] in _ANSWERS, int(found[2] or 0)
            first = call.messages.get(key, Span(found.start(), 0)).start
            call.messages[key] = Span(first, found.end())
    counted = Counter(holders.values())
    for start, call in calls.items():
        region = start if counted[holders[start]] > 1 else holders[start]
        if region in ends:
            call.region = Span(region, ends[region])
            yield call


def _string(raw: str) -> str:
    try:
        return str(json.loads(raw, strict=False))
    except ValueError:
        return raw[1:-1]


def _result(values: Mapping[str, str]) -> Iterator[Part]:
    content = "\n".join(part.text for part in _contents(values) if isinstance(part, Text))
    yield ToolResult(values.get("tool_call_id", ""), values.get("name", ""), content)


def _parts(values: Mapping[str, str]) -> Iterator[Part]:
    yield from _contents(values)
    calls: dict[int, dict[str, str]] = {}
    for key, value in values.items():
        if found := _CALL.fullmatch(key):
            calls.setdefault(int(found[1]), {})[found[2]] = value
    for _, call in sorted(calls.items()):
        yield ToolCall(call.get("id", ""), call.get("name", ""), call.get("arguments", ""))
    if "function_call_name" in values:
        yield ToolCall("", values["function_call_name"], values.get("function_call_arguments_json", ""))


def _contents(values: Mapping[str, str]) -> Iterator[Part]:
    if values.get("content"):
        yield Text(_plain(values["content"]))
    items: dict[int, dict[str, str]] = {}
    for key, value in values.items():
        if found := _CONTENT.fullmatch(key):
            items.setdefault(int(found[1]), {})[found[2]] = value
    for _, item in sorted(items.items()):
        if "image.image.url" in item:
            yield Image(item["image.image.url"])
        elif "text" in item:
            yield Thinking(item["text"]) if item.get("type") == "reasoning" else Text(item["text"])


def _plain(content: str) -> str:
    """The texts of a list of blocks in JSON; any other content as it is."""
    blocks = _json(content) if content.startswith("[{") else None
    texts = [each["text"] for each in blocks if isinstance(each, dict) and isinstance(each.get("text"), str)] if blocks else []
    return "\n".join(texts) if blocks and len(texts) == len(blocks) else content


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
