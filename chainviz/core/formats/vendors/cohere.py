"""Cohere: chat in versions 2 and 1, with the streams of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import SLOT, Fragment, Message, Part, Role, Text, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList, Sample, TextMember, Unit
from chainviz.core.formats.contract import Accepts
from chainviz.core.formats.read_only import ReadOnly, make_message
from chainviz.core.formats.requests.form import NewRequest
from chainviz.core.formats.requests.settings import Change, Members, Reasoning, ResponseFormat, Tool, ToolChoice, function_members
from chainviz.core.formats.streams import Chunk, Chunks, Joined, append_text, index_of, list_at, object_at
from chainviz.core.formats.vendors.openai_form.chat_format import ChatFormat
from chainviz.core.formats.vendors.openai_form.request import OpenAILikeForm
from chainviz.core.formats.vendors.openai_form.write import Accent

_OWN = ("strict_tools", "safety_mode", "citation_options")
"""Request members that only this API has."""


class CohereForm(OpenAILikeForm):
    """Requests of Cohere chat, version 2 (cohere-python, V2Client.chat)."""

    family = "cohere"
    numbers = {
        "max_tokens": (("max_tokens",),), "temperature": (("temperature",),), "top_p": (("p",),), "top_k": (("k",),),
        "seed": (("seed",),), "presence_penalty": (("presence_penalty",),), "frequency_penalty": (("frequency_penalty",),),
    }  # fmt: skip
    limits = {
        "temperature": (0, 1), "top_p": (0.01, 0.99), "top_k": (0, 500), "presence_penalty": (0, 1), "frequency_penalty": (0, 1),
    }  # fmt: skip
    stop_at = (("stop_sequences",),)
    most_stops = 5

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        strict = members.take(("strict_tools",), bool)
        for each in super().read_tools(members):
            yield replace(each, strict=strict) if isinstance(each, Tool) and strict is not None else each

    def read_reasoning(self, members: Members) -> Reasoning | None:
        return members.read(("thinking",), dict, "reasoning", _reasoning)

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        """Write the tools of a request. Either all of them are strict or none is."""
        super().write_tools(new, tools)
        strict = [tool for tool in tools if tool.strict]
        if len(strict) == len(tools):
            new.put(("strict_tools",), True)
        else:
            new.changes += [Change("left-out", f"{tool.place}.strict") for tool in strict]

    def function(self, new: NewRequest, tool: Tool) -> dict[str, Any]:
        return function_members(tool, "parameters")

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and choice.mode != "auto":
            new.put(("tool_choice",), choice.mode.upper())
        if choice and choice.names:
            new.leave_out("tool_choice")
        if parallel is False:
            new.leave_out("parallel_calls")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        """Write the response format. The API refuses JSON answers in a request with tools."""
        if new.settings.tools:
            new.leave_out("response_format")
            return
        schema = {} if format.schema is None else {"json_schema": format.schema}
        new.put(("response_format",), {"type": "json_object", **schema})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        is_off = reasoning.effort == "none" or reasoning.budget == 0
        budget = {"token_budget": reasoning.budget} if reasoning.budget else {}
        new.put(("thinking",), {"type": "disabled" if is_off else "enabled", **budget})
        if reasoning.effort not in ("", "none"):
            new.change("reasoning", f"the effort {reasoning.effort}", "thinking of any length")


def _reasoning(value: dict[str, Any]) -> Reasoning | None:
    budget = value.get("token_budget")
    if value.get("type") == "disabled":
        return Reasoning("none")
    return Reasoning(budget=budget if isinstance(budget, int) else None) if value.get("type") == "enabled" else None


class Cohere(ChatFormat):
    """Cohere chat, version 2: OpenAI's messages, with a plan beside the calls, and documents as results."""

    name = "cohere"
    label = "Cohere chat"
    api = "cohere"
    accepts = Accepts(reasoning=True, media_in_results=False)
    tested_with = "Cohere API v2"
    template = '{"messages": [\n]}\n'
    accent = Accent(reasoning="tool_plan")
    request = CohereForm()
    answers = (("message",),)

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values if self.is_message(value)]
        if not rates:
            return 0.0
        model = sample.beside.get("model")
        is_named = (isinstance(model, str) and model.startswith(("command", "c4ai-"))) or any(key in sample.beside for key in _OWN)
        return max(*rates, 0.96 if is_named and sample.key == "messages" else 0.0)


def _rate(value: dict[str, Any]) -> float:
    content = value.get("content")
    blocks = [item for item in content if isinstance(item, dict)] if isinstance(content, list) else []
    if "tool_plan" in value or any(item.get("type") == "document" and isinstance(item.get("document"), dict) for item in blocks):
        return 0.97
    return 0.0


_WORDS = {"user": "user", "chatbot": "assistant", "system": "system", "tool": "tool"}
_QUESTION = TextMember("message", ("chat_history",))


class CohereV1(ReadOnly):
    """Cohere chat, version 1. `chat_history` has roles in capitals, `message` is the last question, and `preamble` is the system
    prompt. Tool results identify their call by name and parameters, because calls have no ids.
    """

    name = "cohere_v1"
    label = "Cohere chat (version 1)"
    tested_with = "documentation of Cohere API v1"
    lines = False
    slot_key = "preamble"
    hints = ("message", "tool_results")
    texts = (_QUESTION,)
    sequences = ((("chat_history",), (_QUESTION.name,)),)

    def find(self, source: Source) -> tuple[FoundList, ...]:
        return ()

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or str(value.get("role")).lower() not in _WORDS or "content" in value:
            return False
        return isinstance(value.get("message"), str) or isinstance(value.get("tool_results"), list)

    def confidence(self, sample: Sample) -> float:
        seen = any(self.is_message(value) for value in sample.values)
        return (0.97 if sample.key == "chat_history" else 0.7) if seen else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            is_said = isinstance(unit.value, str) and bool(unit.value)
            yield self.message("", (unit.fragment(),)) if is_said or self.is_message(unit.value) else unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        if isinstance(value, str):
            return make_message("system" if source[0].ordinal == SLOT else "user", [Text(value)], source)
        word = _WORDS[value["role"].lower()]
        text = value.get("message")
        parts: list[Part] = [Text(text)] if isinstance(text, str) and text else []
        if word == "tool":
            return make_message(word, [*parts, *(_result(item) for item in _dicts(value.get("tool_results")))], source)
        return make_message(word, [*parts, *(_call(item) for item in _dicts(value.get("tool_calls")))], source)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _call(item: dict[str, Any]) -> ToolCall:
    return ToolCall("", str(item.get("name") or ""), dump(item.get("parameters") or {}))


def _result(item: dict[str, Any]) -> ToolResult:
    call = item["call"] if isinstance(item.get("call"), dict) else {}
    return ToolResult("", str(call.get("name") or ""), dump(item.get("outputs")))


_TYPES = frozenset(
    ("message-start", "content-start", "content-delta", "content-end", "tool-plan-delta", "tool-call-start", "tool-call-delta",
     "tool-call-end", "citation-start", "citation-end", "message-end")
)  # fmt: skip


def _join(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {"role": "assistant"}
    blocks: dict[int, Chunk] = {}
    calls: dict[int, Chunk] = {}
    reason = ""
    for chunk in chunks:
        delta = object_at(chunk, "delta")
        reason = string_of(delta, "finish_reason") or reason
        said = object_at(delta, "message")
        append_text(message, "tool_plan", said.get("tool_plan") or None)
        index = index_of(chunk)
        if index is None:
            continue
        if object_at(said, "content"):
            _add_content(blocks.setdefault(index, {}), said["content"])
        for call in (object_at(said, "tool_calls"), *objects_of(said, "tool_calls")):
            _add_call(calls.setdefault(index, {}), call) if call else None
    message["content"] = [blocks[index] for index in sorted(blocks)]
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return Joined((dump(message),), "" if reason == "COMPLETE" else reason)


def _add_content(block: Chunk, piece: Chunk) -> None:
    for key in ("text", "thinking"):
        if key in piece:
            append_text(block, key, piece[key])
    kind = string_of(piece, "type") or string_of(block, "type") or ("thinking" if "thinking" in block else "text")
    block["type"] = kind


def _add_call(call: Chunk, piece: Chunk) -> None:
    call |= {key: value for key, value in piece.items() if key != "function"}
    function = call.setdefault("function", {})
    for key in ("name", "arguments"):
        append_text(function, key, object_at(piece, "function").get(key))


COHERE = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "type") in _TYPES,
    joined=_join,
    opens=lambda chunk: chunk.get("type") == "message-start",
    answer_at=("message",),
)

_V1_TYPES = frozenset(
    ("stream-start", "text-generation", "citation-generation", "search-queries-generation", "search-results", "tool-calls-chunk",
     "tool-calls-generation", "stream-end")
)  # fmt: skip


def _join_v1(chunks: Sequence[Chunk]) -> Joined:
    text, reason = "", ""
    calls: list[Any] = []
    for chunk in chunks:
        kind = string_of(chunk, "event_type")
        text += string_of(chunk, "text") if kind == "text-generation" else ""
        calls = list_at(chunk, "tool_calls") or calls
        if kind == "stream-end":
            reason = string_of(chunk, "finish_reason")
            text = string_of(object_at(chunk, "response"), "text") or text
    message = {"role": "CHATBOT", "message": text} | ({"tool_calls": calls} if calls else {})
    return Joined((dump(message),), "" if reason == "COMPLETE" else reason)


COHERE_V1 = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "event_type") in _V1_TYPES,
    joined=_join_v1,
    opens=lambda chunk: chunk.get("event_type") == "stream-start",
)
