"""Gemini Interactions: the steps of a response, and of a request's input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from chainviz.core.chain.messages import HUMAN, NEW, SLOT, SYSTEM, Fragment, Message, Role, Text, text_of
from chainviz.core.dialects.items import ItemUnits, one_result_each
from chainviz.core.dialects.values import Speller
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import ANY, Accepts, Format, Style
from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.settings import (
    Change,
    Members,
    Reasoning,
    ResponseFormat,
    Tool,
    ToolChoice,
    function_members,
    own_tool,
    read_function,
)
from chainviz.core.formats.vendors.google.interaction_steps import KINDS, SERVER_STEPS, STEPS, TEXTS, kind_of, losses, new_steps

_UNITS = ItemUnits(STEPS)
_PROOFS = KINDS - {"function_call"}
"""Types of steps that identify the API. A function_call does not, because OpenAI's calls have the same type."""


_MODES = {"auto": "auto", "none": "none", "required": "any"}
_CHOICES = {"auto": "auto", "validated": "auto", "none": "none", "any": "required"}


class GeminiInteractionsForm(RequestForm):
    """Requests of the Interactions API (google-genai, interactions: CreateModelInteraction and GenerationConfig)."""

    list_key = "input"
    lists = ("input", "steps")
    family = "google"
    numbers = {
        "max_tokens": (("generation_config", "max_output_tokens"),), "temperature": (("generation_config", "temperature"),),
        "top_p": (("generation_config", "top_p"),), "seed": (("generation_config", "seed"),),
    }  # fmt: skip
    limits = {"temperature": (0, 2), "top_p": (0, 1)}
    stop_at = (("generation_config", "stop_sequences"),)
    most_stops = 5
    efforts = ("minimal", "low", "medium", "high", "xhigh")

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        name = members.name(("tools",))
        for index, value in enumerate(members.take(("tools",), list, "tools") or ()):
            place = f"{name}[{index}]"
            is_function = isinstance(value, dict) and value.get("type") == "function"
            yield from read_function(value, place, "parameters") if is_function else (own_tool(value, place),)

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        return members.read(("generation_config", "tool_choice"), (str, dict), "tool_choice", _choice), None

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        kind = members.take(("response_mime_type",), str, "response_format")
        found = members.read(("response_format",), (dict, list), "response_format", _response_format)
        return found or (ResponseFormat(is_text=kind != "application/json") if kind else None)

    def read_reasoning(self, members: Members) -> Reasoning | None:
        effort = members.take(("generation_config", "thinking_level"), str, "reasoning")
        return Reasoning(effort) if effort else None

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        for tool in tools:
            if tool.strict:
                new.changes.append(Change("left-out", f"{tool.place}.strict"))
        new.put(("tools",), [{"type": "function", **function_members(tool, "parameters")} for tool in tools])

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and choice.names:
            mode = "validated" if choice.mode == "auto" else _MODES[choice.mode]
            allowed = {"allowed_tools": {"mode": mode, "tools": list(choice.names)}}
            new.put(("generation_config", "tool_choice"), allowed)
        elif choice:
            new.put(("generation_config", "tool_choice"), _MODES[choice.mode])
        if parallel is False:
            new.leave_out("parallel_calls")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        schema = {} if format.schema is None else {"schema": format.schema}
        new.put(("response_format",), {"type": "text", "mime_type": "application/json", **schema})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        effort = self.effort_of(new, reasoning)
        if effort:
            new.put(("generation_config", "thinking_level"), effort)


def _choice(value: str | dict[str, Any]) -> ToolChoice | None:
    allowed = value.get("allowed_tools") if isinstance(value, dict) else {"mode": value}
    mode = _CHOICES.get(str(allowed.get("mode", "auto")).lower()) if isinstance(allowed, dict) else None
    names = allowed.get("tools") if isinstance(allowed, dict) else None
    return ToolChoice(mode, tuple(map(str, names)) if isinstance(names, list) else ()) if mode else None  # type: ignore[arg-type]


def _response_format(value: dict[str, Any] | list[Any]) -> ResponseFormat | None:
    """Return the response format for texts. In requests of 2025, the value itself is the schema."""
    only = value[0] if isinstance(value, list) and len(value) == 1 else value
    if not isinstance(only, dict):
        return None
    if only.get("type") != "text":
        return ResponseFormat(only) if "properties" in only else None
    schema = only.get("schema")
    return ResponseFormat(schema if isinstance(schema, dict) else None, is_text=only.get("mime_type") == "text/plain")


class GeminiInteractions(Format):
    name = "gemini_interactions"
    label = "Gemini Interactions"
    api = "gemini_interactions"
    accepts = Accepts(images=ANY, files=ANY, addresses=frozenset(("http", "https", "gs")), reasoning=True, media_of_model=True)
    tested_with = "google-genai 3.4"
    slot_key = "system_instruction"
    request = GeminiInteractionsForm()
    template = '{"input": [\n]}\n'
    blocks_at = ("content",)
    late_system = "a system message that is not the first message becomes a user message"
    names_results = True
    hints = ("content", "signature", "summary", "arguments", "call_id")
    known_kinds = SERVER_STEPS
    sequences = (
        (("request", "input"), ("response", "steps")),
        (("request", "body", "input"), ("response", "body", "steps")),
        (("request", "input as text"), ("response", "steps")),
        (("request", "body", "input as text"), ("response", "body", "steps")),
    )

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or "role" in value:
            return False
        return kind_of(value) in _PROOFS or (kind_of(value) == "function_call" and isinstance(value.get("arguments"), dict))

    def confidence(self, sample: Sample) -> float:
        kinds = [kind_of(value) for value in sample.values if self.is_message(value)]
        if not kinds:
            return 0.0
        return 0.97 if sample.key in ("steps", "input") or TEXTS.keys() & set(kinds) else 0.6

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        units = iter(units)
        first = next(units, None)
        if first is not None and first.ordinal == SLOT:
            if type(first.value) is str and first.value:
                yield self.message(SYSTEM, (first.fragment(),))
            first = None
        if first is not None and type(first.value) is str:
            yield self.message(HUMAN, (first.fragment(),))
            first = None
        yield from _UNITS.read(units if first is None else chain((first,), units))

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        if first.ordinal == SLOT or first.text.startswith('"'):
            return Message(SYSTEM if first.ordinal == SLOT else HUMAN, (Text(parse(first.text), origin=0),), source=source)
        return _UNITS.message(role, source)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        source = message.source
        if source and self.message(message.role, source) == message:
            return source
        if source and source[0].ordinal != SLOT:
            return _UNITS.patched(message, str, ascii_only=style.ascii)
        speller = Speller("" if source else style.near, style.ascii)
        has_slot = bool(source) or (style.slot and style.number == 0)
        if has_slot and message.role == SYSTEM:
            return (Fragment(SLOT, "", speller.quote(text_of(message))),)
        steps = new_steps(message.role, one_result_each(message), message.label, "", speller)
        return tuple(Fragment(NEW, "", step) for step in steps)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts)
