"""Spans of LLM calls whose messages are attributes: OpenInference, OpenLLMetry and the Vercel AI SDK."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from chainviz.core.chain.messages import TOOL, Fragment, Image, Message, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import decode, dump
from chainviz.core.documents.source import Source
from chainviz.core.documents.unit_reader import RAW_LIMIT
from chainviz.core.documents.units import FoundList, ListSpan, Span, Unit
from chainviz.core.formats.leaf_format import LeafFormat
from chainviz.core.formats.read_only import HEAD, ROLES, ReadOnly, ReadOnlyUnits, Turn, as_text, make_message, unknown

_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)
_NAME = re.compile(rb'"name"\s*:\s*"([^"\\]{1,60})"')
_CALL = re.compile(r"tool_calls\.(\d+)\.(?:tool_call\.)?(?:function\.)?(id|name|arguments)")
_CONTENT = re.compile(r"contents\.(\d+)\.message_content\.(type|text|image\.image\.url)")


_ANSWERS = (b"output", b"completion", b"response")


def attribute_of(key: str) -> re.Pattern[bytes]:
    """Return a pattern for a string attribute with such a key, with groups for request or answer, the message's number
    (empty if it has none), and the field."""
    value = rb'"\s*(?::|(,)\s*"value"\s*:\s*\{\s*"stringValue"\s*:)\s*("(?:[^"\\]++|\\.)*+")'
    return re.compile(b'"' + key.encode() + value, re.DOTALL)


class FlatAttributes(ReadOnly):
    """Formats that flatten the messages of an LLM call into attributes of its span, one attribute a field:
    `llm.input_messages.0.message.role`, `gen_ai.completion.0.tool_calls.0.name`.

    They are OTLP attributes `{"key": K, "value": {"stringValue": V}}` or members `K: V`. Each span with messages is a chain.
    Attributes of one message follow one another; the messages may come in any order.
    """

    attribute: re.Pattern[bytes]
    marks: tuple[str, ...]
    """The beginning of a file with such spans contains one of these."""

    def rate(self, head: str) -> float:
        return 0.97 if any(mark in head for mark in self.marks) else 0.0

    def find(self, source: Source) -> tuple[FoundList, ...]:
        if source.size > RAW_LIMIT or not self.rate(source.text(0, HEAD)):
            return ()
        calls = [call for call in _flat_calls(source.read(0, source.size), self.attribute) if call.is_parted]
        return tuple(self._list_of(source, call, place if len(calls) > 1 else -1) for place, call in enumerate(calls))

    def _list_of(self, source: Source, call: _Call, place: int) -> FoundList:
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
        return make_message(word, _result(values) if ROLES.get(word) == TOOL else _parts(values), source)

    def _attributes(self, text: str) -> dict[str, str]:
        """Return the values of the attributes by the ends of their keys."""
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
        """True if no message is between the attributes of another."""
        spans = sorted(self.messages.values(), key=lambda span: span.start)
        return all(one.end <= other.start for one, other in pairwise(spans))


def _flat_calls(text: bytes, attribute: re.Pattern[bytes]) -> Iterator[_Call]:
    """Yield the spans with messages in the order in which their attributes begin."""
    stack: list[int] = []
    calls: dict[int, _Call] = {}
    ends: dict[int, int] = {}
    holders: dict[int, int] = {}
    """By list or object of attributes: the span around it."""
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
    """Return the texts of a list of blocks in JSON; any other content unchanged."""
    blocks = decode(content, strict=True) if content.startswith("[{") else None
    texts = [each["text"] for each in blocks if isinstance(each, dict) and isinstance(each.get("text"), str)] if blocks else []
    return "\n".join(texts) if blocks and len(texts) == len(blocks) else content


class OpenInference(FlatAttributes):
    """OpenInference spans (Arize Phoenix, agent-prism): `llm.input_messages.0.message.role`,
    `llm.output_messages.0.message.tool_calls.0.tool_call.function.name` and so on.
    """

    name = "openinference"
    label = "OpenInference spans"
    tested_with = "OpenInference instrumentation 0.1"
    attribute = attribute_of(r"llm\.(input|output)_messages\.(\d{1,6})\.message\.([\w.]+)")
    marks = ('"openinference.', '"llm.input_messages.', '"llm.output_messages.')


_ASKED = ("llm.input_messages", "attributes.llm.input_messages")
_ANSWERED = ("llm.output_messages", "attributes.llm.output_messages")


class OpenInferenceMessages(ReadOnlyUnits):
    """OpenInference spans whose messages are lists, as Phoenix has them in its tables: members `message.role`,
    `message.content`.
    """

    name = "openinference_messages"
    label = "OpenInference spans as a table"
    tested_with = "semantic conventions of OpenInference, Phoenix"
    hints = ("message.role",)
    sequences = tuple(((asked,), (answered,)) for asked, answered in zip(_ASKED, _ANSWERED, strict=True))

    def is_message(self, value: object) -> bool:
        return bool(string_of(value, "message.role"))

    def messages_in(self, value: Any) -> Sequence[Turn]:
        role, content = value["message.role"], as_text(value.get("message.content"))
        if role == "tool":
            return [(role, [ToolResult(string_of(value, "message.tool_call_id"), string_of(value, "message.name"), content)])]
        said: list[Part] = [Text(content)] if content else []
        return [(role, [*said, *map(_content, objects_of(value, "message.contents")), *_list_calls(value)])]


def _content(item: dict[str, Any]) -> Part:
    text, url = string_of(item, "message_content.text"), string_of(item, "message_content.image.image.url")
    return Text(text) if text else Image(url) if url else unknown(item)


def _list_calls(message: dict[str, Any]) -> Iterator[ToolCall]:
    for item in objects_of(message, "message.tool_calls"):
        arguments = as_text(item.get("tool_call.function.arguments"))
        yield ToolCall(string_of(item, "tool_call.id"), string_of(item, "tool_call.function.name"), arguments)


class OpenLLMetry(FlatAttributes):
    """Spans of OpenLLMetry (Traceloop) and of others that follow it: `gen_ai.prompt.0.role`, `gen_ai.completion.0.content` and
    so on. Newer versions write the messages as the OpenTelemetry conventions have them, which is another format.
    """

    name = "openllmetry"
    label = "OpenLLMetry spans"
    tested_with = "attributes of opentelemetry-semantic-conventions-ai 0.4"
    attribute = attribute_of(r"gen_ai\.(prompt|completion)\.(\d{1,6})\.([\w.]+)")
    marks = ('"gen_ai.prompt.0.', '"gen_ai.completion.0.')


_ANSWER = ("text", "object", "toolCalls", "reasoning")


class VercelSpans(FlatAttributes):
    """Spans of the Vercel AI SDK: `ai.prompt.messages` is what a model was asked, as JSON in a string, and `ai.response.text`,
    `ai.response.toolCalls` and so on are its answer. The registry passes in the format of the messages.
    """

    name = "vercel_spans"
    label = "Vercel AI SDK spans"
    tested_with = "spans of ai 5, 6"
    attribute = attribute_of(rf"ai\.(prompt|response)()\.?((?:messages|{'|'.join(_ANSWER)})?)")
    marks = ('"ai.prompt.messages"', '"ai.prompt"')

    def find(self, source: Source) -> tuple[FoundList, ...]:
        """Find the spans of the calls of a model. Those around them, which repeat request and answer, count only if
        there are no others."""
        found = super().find(source)
        inner = [each for each in found if b'"ai.prompt.messages"' in source.read(each.region.start, each.region.end)]
        return tuple(inner) or found

    def __init__(self, dialect: LeafFormat) -> None:
        self.dialect = dialect

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            found = self._span_messages(unit.text) if isinstance(unit.value, str) else []
            if not found:
                yield unit
            for place, (word, parts) in enumerate(found):
                yield make_message(word, parts, (unit.fragment((place,)),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        place = source[0].blocks[0] if source[0].blocks else 0
        word, parts = self._span_messages(source[0].text)[place]
        return make_message(word, parts, source)

    def join(self, fragments: Sequence[Fragment]) -> str:
        return fragments[0].text

    def _span_messages(self, text: str) -> list[tuple[str, list[Part]]]:
        """Return the messages of the question or of the answer, whichever the text contains."""
        values = self._attributes(text)
        if "" in values and "messages" not in values:
            return self._request_messages(decode(values[""]))
        if "messages" not in values:
            parts = list(_answer(values))
            return [("assistant", parts)] if parts else []
        return self._request_messages({"messages": decode(values["messages"])})

    def _request_messages(self, request: Any) -> list[tuple[str, list[Part]]]:
        """Return the messages of a request: its system text, its prompt or its list."""
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
    for call in objects_of({"calls": decode(values.get("toolCalls", ""))}, "calls"):
        arguments = call["input"] if "input" in call else call.get("args")
        shown = arguments if isinstance(arguments, str) else dump(arguments if arguments is not None else {})
        yield ToolCall(string_of(call, "toolCallId"), string_of(call, "toolName"), shown)
