"""Ollama: chat requests, bare lists, answers and recorded streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import NEW, TOOL, Binary, Fragment, Image, Message, Opaque, Role, ToolResult
from chainviz.core.dialects.losses import TEXT_MOVES, TEXTS_JOIN, has_several_texts, has_text_behind_call
from chainviz.core.dialects.values import Speller, reasoning_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Accepts, Format, Style
from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.settings import Change, Members, Reasoning, ResponseFormat, Tool, ToolChoice, function_members
from chainviz.core.formats.streams import Chunk, Chunks, Joined, append_text, list_at, object_at
from chainviz.core.formats.vendors.ollama.messages import base64_of, new_units, owned, patched_results, patched_unit
from chainviz.core.formats.vendors.openai_form.read import ROLES, label_of
from chainviz.core.formats.vendors.openai_form.request import OpenAILikeForm

_OPTIONS = frozenset(("num_predict", "num_ctx", "num_keep", "repeat_penalty", "temperature", "top_k", "top_p", "seed", "stop"))


class OllamaForm(OpenAILikeForm):
    """Requests of Ollama chat (ollama-python, ChatRequest and Options)."""

    family = "ollama"
    numbers = {
        "max_tokens": (("options", "num_predict"),), "temperature": (("options", "temperature"),), "top_p": (("options", "top_p"),),
        "top_k": (("options", "top_k"),), "seed": (("options", "seed"),),
        "presence_penalty": (("options", "presence_penalty"),), "frequency_penalty": (("options", "frequency_penalty"),),
    }  # fmt: skip
    stop_at = (("options", "stop"),)
    efforts = ("low", "medium", "high")

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        return None, None

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        return members.read(("format",), (str, dict), "response_format", _response_format)

    def read_reasoning(self, members: Members) -> Reasoning | None:
        thinks = members.take(("think",), (bool, str), "reasoning")
        return None if thinks is None else Reasoning(thinks if isinstance(thinks, str) else "" if thinks else "none")

    def function(self, new: NewRequest, tool: Tool) -> dict[str, Any]:
        if tool.strict:
            new.changes.append(Change("left-out", f"{tool.place}.strict"))
        return function_members(tool, "parameters")

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        RequestForm.write_tool_choice(self, new, choice, parallel)

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        new.put(("format",), "json" if format.schema is None else format.schema)

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        is_off = reasoning.effort == "none" or reasoning.budget == 0
        has_effort = reasoning.effort or reasoning.budget
        new.put(("think",), False if is_off else self.effort_of(new, reasoning) if has_effort else True)


def _response_format(value: str | dict[str, Any]) -> ResponseFormat | None:
    if isinstance(value, dict):
        return ResponseFormat(value)
    return ResponseFormat(is_text=value == "") if value in ("json", "") else None


class Ollama(Format):
    """Ollama chat. Consecutive results form one message; a result without an id is matched with its call by counting."""

    name = "ollama"
    label = "Ollama chat"
    api = "ollama"
    accepts = Accepts(addresses=frozenset(), reasoning=True, media_in_results=False)
    tested_with = "ollama 0.6"
    packs = True
    template = '{"messages": [\n]}\n'
    blocks_at = ("content",)
    names_results = True
    hints = ("role",)
    request = OllamaForm()
    answers = (("message",),)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "messages" in value:
            return False
        role = value.get("role")
        return isinstance(role, str) and role in ROLES

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values if self.is_message(value)]
        options = sample.beside.get("options")
        is_request = sample.key == "messages" and isinstance(options, dict) and not _OPTIONS.isdisjoint(options)
        return max(*rates, 0.96 if is_request else 0.0) if rates else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        results: list[Fragment] = []
        for unit in units:
            value = unit.value
            is_result = type(value) is dict and value.get("role") == "tool"
            if results and not is_result:
                yield self.message(TOOL, tuple(results))
                results = []
            if is_result:
                results.append(unit.fragment())
            elif type(value) is dict and type(value.get("role")) is str:
                yield self.message("", (unit.fragment(),))
            else:
                yield unit
        if results:
            yield self.message(TOOL, tuple(results))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        value = parse(source[0].text)
        role = ROLES.get(value["role"], value["role"])
        parts = tuple(part for held in owned(source, role) for part in held)
        return Message(role, parts, source=source, label=label_of(value, role))

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            speller = Speller(style.near, style.ascii)
            return tuple(Fragment(NEW, "", text) for text in new_units(message, speller))
        old = self.message(message.role, message.source)
        if old == message:
            return message.source
        first = message.source[0]
        speller = Speller(first.text, style.ascii)
        if (message.role == TOOL) != (old.role == TOOL):
            texts = new_units(message, speller)
            return tuple(Fragment(NEW if place else first.ordinal, "" if place else first.lead, text) for place, text in enumerate(texts))
        if message.role == TOOL:
            return patched_results(message, old, speller)
        return (Fragment(first.ordinal, first.lead, patched_unit(first.text, old, message, speller)),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if any(item.signature for item in reasoning_of(message)):
            lost.append("signatures of reasoning are left out")
        if any(isinstance(part, Opaque) for part in message.parts):
            lost.append("parts of unknown kinds are left out")
        if has_several_texts(message.parts):
            lost.append(TEXTS_JOIN)
        if has_text_behind_call(message.parts):
            lost.append(TEXT_MOVES)
        if any(isinstance(part, Image | Binary) and not base64_of(part) for part in message.parts):
            lost.append("images with an address and files are left out")
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if any(part.is_error for part in results):
            lost.append("a result cannot be marked as an error")
        if any(part.media for part in results):
            lost.append("images inside results are left out")
        return tuple(lost)


def _rate(value: dict[str, Any]) -> float:
    if isinstance(value.get("images"), list) or (isinstance(value.get("tool_name"), str) and "tool_call_id" not in value):
        return 0.97
    calls = value.get("tool_calls")
    first = calls[0] if isinstance(calls, list) and calls else None
    if isinstance(first, dict) and isinstance(first.get("function"), dict):
        is_parsed = isinstance(first["function"].get("arguments"), dict)
        if "type" in first or ("id" in first and not is_parsed):
            return 0.0
        return 0.97 if is_parsed else 0.93
    return 0.93 if isinstance(value.get("thinking"), str) and isinstance(value.get("content"), str) else 0.0


def _join(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {"role": "assistant", "content": ""}
    reason = ""
    for chunk in chunks:
        said = object_at(chunk, "message") or {"content": chunk.get("response"), "thinking": chunk.get("thinking")}
        append_text(message, "content", said.get("content"))
        append_text(message, "thinking", said.get("thinking") or None)
        if list_at(said, "tool_calls"):
            message["tool_calls"] = [*list_at(message, "tool_calls"), *list_at(said, "tool_calls")]
        reason = string_of(chunk, "done_reason") or reason
    return Joined((dump(message),), "" if reason == "stop" else reason)


def _is_chunk(chunk: Chunk) -> bool:
    has_text = type(chunk.get("message")) is dict or type(chunk.get("response")) is str
    return has_text and type(chunk.get("done")) is bool and type(chunk.get("model")) is str


OLLAMA = Chunks(is_chunk=_is_chunk, joined=_join, is_whole=lambda chunk: chunk.get("done") is True, answer_at=("message",))
