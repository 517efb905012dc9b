"""OpenAI Responses: requests with their instructions, response objects, bare lists of items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, HUMAN, NEW, SLOT, SYSTEM, Fragment, Message, Opaque, Role, Text
from chainviz.core.dialects.items import ItemUnits, one_result_each
from chainviz.core.dialects.losses import TEXTS_JOIN, has_several_texts
from chainviz.core.dialects.values import Speller
from chainviz.core.documents.json.edit import value_of
from chainviz.core.documents.units import Sample, TextMember, Unit
from chainviz.core.errors import Refused
from chainviz.core.formats.contract import DOCUMENTS, Accepts, Format, Style
from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.settings import (
    EFFORTS,
    Change,
    Members,
    Reasoning,
    ResponseFormat,
    Tool,
    ToolChoice,
    fits_strict,
    object_schema,
    own_tool,
    read_function,
)
from chainviz.core.formats.vendors.openai.responses_read import ITEM_TYPES, SETTINGS, kind_of
from chainviz.core.formats.vendors.openai.responses_write import BLOCKS, RESPONSES, losses, new_items
from chainviz.core.formats.vendors.openai_form.request import json_schema_members, read_choice, read_json_schema

_ITEMS = ItemUnits(RESPONSES)
_RECORDS = frozenset(("id", "type", "output", "messages"))
"""Members beside the `input` of a log record, which a request does not have."""
_INPUT = TextMember("input", ("model", "instructions", "previous_response_id", "reasoning", "max_output_tokens", "tools"))
_OF_OTHERS = frozenset(("encoding_format", "dimensions", "voice", "response_format", "speed"))
"""Members beside the `input` of requests to OpenAI's embedding and speech APIs."""
_OTHER_MODELS = re.compile(r"embed|moderation|tts|bge-|e5-", re.IGNORECASE)
_BLOCKS = ("input_text", "output_text", "input_image", "input_file")


class OpenAIResponsesForm(RequestForm):
    """Requests of the Responses API (openai-python, types/responses/response_create_params.py)."""

    list_key = "input"
    lists = ("input", "output")
    family = "openai"
    numbers = {"max_tokens": (("max_output_tokens",),), "temperature": (("temperature",),), "top_p": (("top_p",),)}
    limits = {"max_tokens": (16, float("inf")), "temperature": (0, 2), "top_p": (0, 1)}
    efforts = EFFORTS

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        name = members.name(("tools",))
        for index, value in enumerate(members.take(("tools",), list, "tools") or ()):
            kind = value.get("type") if isinstance(value, dict) else None
            place = f"{name}[{index}]"
            if kind == "custom":
                for each in read_function({**value, "format": None}, place, "parameters"):
                    yield replace(each, grammar=value.get("format") or {}) if isinstance(each, Tool) else each
            elif kind == "function":
                yield from read_function(value, place, "parameters")
            else:
                yield own_tool(value, place)

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        choice = members.read(("tool_choice",), (str, dict), "tool_choice", read_choice)
        return choice, members.take(("parallel_tool_calls",), bool, "parallel_calls")

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        return members.read(("text", "format"), dict, "response_format", _response_format)

    def read_reasoning(self, members: Members) -> Reasoning | None:
        effort = members.take(("reasoning", "effort"), str, "reasoning")
        return Reasoning(effort) if effort else None

    def fitting(self, new: NewRequest) -> tuple[Tool, ...]:
        return new.settings.tools

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        new.put(("tools",), [_tool(new, tool) for tool in tools])

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and len(choice.names) == 1 and choice.mode == "required":
            new.put(("tool_choice",), {"type": "function", "name": choice.names[0]})
        elif choice and choice.names:
            tools = [{"type": "function", "name": name} for name in choice.names]
            new.put(("tool_choice",), {"type": "allowed_tools", "mode": choice.mode, "tools": tools})
        elif choice:
            new.put(("tool_choice",), choice.mode)
        if parallel is not None:
            new.put(("parallel_tool_calls",), parallel)

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        if format.schema is None:
            new.put(("text", "format"), {"type": "json_object"})
        else:
            new.put(("text", "format"), {"type": "json_schema", **json_schema_members(format)})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        effort = self.effort_of(new, reasoning)
        if effort:
            new.put(("reasoning", "effort"), effort)


def _response_format(value: dict[str, Any]) -> ResponseFormat | None:
    kind = value.get("type")
    if kind == "json_schema":
        return read_json_schema(value.get("schema"), value)
    return ResponseFormat(is_text=kind == "text") if kind in ("json_object", "text") else None


def _tool(new: NewRequest, tool: Tool) -> dict[str, Any]:
    """Return the JSON of a tool. Functions are strict by default, so `strict` is always written."""
    described = {"name": tool.name, **({"description": tool.description} if tool.description else {})}
    if tool.grammar is not None:
        return {"type": "custom", **described, **({"format": tool.grammar} if tool.grammar else {})}
    strict = bool(tool.strict) and fits_strict(tool.schema)
    if tool.strict and not strict:
        new.changes.append(Change("left-out", f"{tool.place}.strict"))
    return {"type": "function", **described, "parameters": object_schema(tool.schema), "strict": strict}


class OpenAIResponses(Format):
    name = "openai_responses"
    label = "OpenAI Responses"
    api = "openai_responses"
    accepts = Accepts(kinds=ITEM_TYPES | BLOCKS, files=DOCUMENTS, free_form_calls=True)
    tested_with = "openai 3.54"
    slot_key = "instructions"
    request = OpenAIResponsesForm()
    template = '{"input": [\n]}\n'
    blocks_at = ("content",)
    hints = ("role", "call_id", "encrypted_content", "summary", "status")
    texts = (_INPUT,)
    sequences = (
        (("request", "input"), ("response", "output")),
        (("request", "body", "input"), ("response", "body", "output")),
        (("request", _INPUT.name), ("response", "output")),
        (("request", "body", _INPUT.name), ("response", "body", "output")),
        ((_INPUT.name,), ("output",)),
    )
    carried_types = SETTINGS
    carried_fields = frozenset(("execution",))
    known_kinds = ITEM_TYPES

    def is_message(self, value: object) -> bool:
        is_bare = isinstance(value, dict) and "role" in value and "content" not in value
        return _rate(value) > 0 and not is_bare

    def confidence(self, sample: Sample) -> float:
        score = max([_rate(value) for value in sample.values], default=0.0)
        if sample.key in (_INPUT.key, _INPUT.name) and sample.values and isinstance(sample.values[0], str):
            return max(score, 0.9 if len(sample.values) == 1 and _asks_a_model(sample.document) else 0.0)
        if sample.beside.get("object") in ("response", "response.compaction") and sample.key == "output":
            return 0.97
        is_request = sample.key == "input" and ("model" in sample.beside or "instructions" in sample.beside)
        if score and is_request and not _RECORDS & sample.beside.keys():
            return max(score, 0.85)
        return score

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        units = iter(units)
        is_first = True
        for unit in units:
            is_text = type(unit.value) is str
            if unit.ordinal != SLOT and not is_text:
                yield from _ITEMS.read(_again(unit, units), is_first=is_first)
            elif unit.value and type(unit.value) in (str, list):
                is_first = False
                yield self.message(SYSTEM, (unit.fragment(),))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        if first.ordinal != SLOT and not first.text.startswith('"'):
            return _ITEMS.message(role, source)
        value = value_of(first)
        if isinstance(value, str):
            role = SYSTEM if first.ordinal == SLOT else HUMAN
            return Message(role, (Text(value, origin=0),), source=source)
        return Message(SYSTEM, (Opaque("instructions", first.text, origin=0),), source=source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        source = message.source
        if not source:
            return self._new(message, style)
        if self.message(message.role, source) == message:
            return source
        if source[0].ordinal == SLOT:
            return self._new(message, Style("", style.ascii, slot=True))
        if source[0].text.startswith('"'):
            return self._as_text(message, style)
        return _ITEMS.patched(message, str, ascii_only=style.ascii)

    def _new(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        speller = Speller(style.near, style.ascii)
        only = message.parts[0] if len(message.parts) == 1 else None
        if style.slot and style.number == 0 and message.role == SYSTEM and isinstance(only, Text):
            return (Fragment(SLOT, "", speller.quote(only.text)),)
        near = style.near if style.near.startswith("{") else ""
        items = new_items(message.role, one_result_each(message), message.label, near, speller)
        return tuple(Fragment(NEW, "", item) for item in items)

    def _as_text(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        """Return a human message as plain text. Raises Refused for any other message."""
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        if message.role != HUMAN or len(texts) < len(message.parts):
            raise Refused("The input of this request is plain text, which can hold only one human message.")
        first = message.source[0]
        return (Fragment(first.ordinal, first.lead, Speller("", style.ascii).quote("\n".join(texts))),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = losses(message.role, message.parts)
        return (*lost, TEXTS_JOIN) if message.role == AI and has_several_texts(message.parts) else lost


def _asks_a_model(document: dict[str, Any]) -> bool:
    """Return True if a document with a string as its input is a request of this API, or contains one, like a line of a batch."""
    body = document.get("body")
    if isinstance(body, dict) and "input" not in document:
        return _asks_a_model(body)
    model = document.get("model")
    if "messages" in document or not isinstance(document.get("output", []), list):
        return False  # the record of a tracing tool
    return isinstance(model, str) and not _OTHER_MODELS.search(model) and not _OF_OTHERS & document.keys()


def _again(first: Unit, rest: Iterator[Unit]) -> Iterator[Unit]:
    yield first
    yield from rest


def _rate(value: Any) -> float:
    kind = kind_of(value)
    if kind in ITEM_TYPES:
        return 0.95
    if kind != "message" or not isinstance(value.get("role"), str):
        return 0.0
    content = value.get("content")
    blocks = content if isinstance(content, list) else []
    if any(isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks):
        return 0.95
    return 0.8 if "type" in value and "stop_reason" not in value else 0.2
