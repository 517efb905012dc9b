"""Gemini generateContent: requests with their system instruction, bare lists of contents, the content of a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Role
from chainviz.core.dialects.values import Speller
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.blocks import BlockFormat, Blocks, read_fragments
from chainviz.core.formats.contract import ANY, Accepts, Style
from chainviz.core.formats.requests.form import NewRequest, RequestForm
from chainviz.core.formats.requests.settings import (
    Change,
    Members,
    Place,
    Reasoning,
    ResponseFormat,
    Tool,
    ToolChoice,
    fits_openapi,
    from_openapi,
    is_empty,
    object_schema,
    own_tool,
    read_function,
)
from chainviz.core.formats.vendors.google.read import ROLES, UNCLEAR, WORDS, as_list, field_of, read_parts, role_runs, word_of
from chainviz.core.formats.vendors.google.write import OWN_KINDS, PartWriter, losses, patched_content

_BLOCKS = Blocks(("parts",), read_parts, patched_content, in_slot=("parts",))
_ENVELOPE = ("systemInstruction", "system_instruction", "generationConfig", "generation_config", "safetySettings")


_CONFIGS = ("generationConfig", "generation_config")
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
_CHOICES = {"AUTO": "auto", "VALIDATED": "auto", "NONE": "none", "ANY": "required"}


def _in_config(camel: str, snake: str) -> tuple[Place, ...]:
    return tuple((config, key) for config in _CONFIGS for key in (camel, snake))


class GeminiForm(RequestForm):
    """Requests of generateContent, with keys in camel or snake case (google-genai, types.py: GenerateContentConfig,
    FunctionDeclaration, ToolConfig)."""

    list_key = "contents"
    lists = ("contents",)
    family = "google"
    model_at = ()
    numbers = {
        "max_tokens": _in_config("maxOutputTokens", "max_output_tokens"), "temperature": _in_config("temperature", "temperature"),
        "top_p": _in_config("topP", "top_p"), "top_k": _in_config("topK", "top_k"), "seed": _in_config("seed", "seed"),
        "presence_penalty": _in_config("presencePenalty", "presence_penalty"),
        "frequency_penalty": _in_config("frequencyPenalty", "frequency_penalty"),
    }  # fmt: skip
    limits = {"temperature": (0, 2), "top_p": (0, 1)}
    stop_at = _in_config("stopSequences", "stop_sequences")
    most_stops = 5
    efforts = ("minimal", "low", "medium", "high")

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        name = members.name(("tools",))
        for index, value in enumerate(as_list(members.take(("tools",), (list, dict), "tools"))):
            for key, each in value.items() if isinstance(value, dict) else ():
                place = f"{name}[{index}].{key}"
                if key in ("functionDeclarations", "function_declarations") and isinstance(each, list):
                    for number, declaration in enumerate(each):
                        yield from _declared(declaration, f"{place}[{number}]")
                else:
                    yield own_tool({"name": key}, place)

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        places = (("toolConfig", "functionCallingConfig"), ("tool_config", "function_calling_config"))
        found = [members.read(place, dict, "tool_choice", _choice) for place in places]
        return found[0] or found[1], None

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        found: ResponseFormat | None = None
        for at in _in_config("responseMimeType", "response_mime_type"):
            kind = members.take(at, str, "response_format")
            found = ResponseFormat(is_text=kind != "application/json") if kind else found
        for at in _in_config("responseSchema", "response_schema"):
            found = members.read(at, dict, "response_format", lambda schema: ResponseFormat(from_openapi(schema))) or found
        for at in _in_config("responseJsonSchema", "response_json_schema"):
            found = members.read(at, dict, "response_format", ResponseFormat) or found
        return found

    def read_reasoning(self, members: Members) -> Reasoning | None:
        found: Reasoning | None = None
        for config in _CONFIGS:
            for thinking, budget, level in (
                ("thinkingConfig", "thinkingBudget", "thinkingLevel"), ("thinking_config", "thinking_budget", "thinking_level"),
            ):  # fmt: skip
                tokens = members.take((config, thinking, budget), int, "reasoning")
                effort = members.take((config, thinking, level), str, "reasoning")
                # with a budget of -1, the model decides
                found = Reasoning(budget=tokens if tokens >= 0 else None) if tokens is not None else found
                found = Reasoning(effort.lower()) if effort else found
        return found

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        for tool in tools:
            if tool.strict:
                new.changes.append(Change("left-out", f"{tool.place}.strict"))
        new.put(("tools",), [{"functionDeclarations": [_declaration(tool) for tool in tools]}])

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice:
            mode = "VALIDATED" if choice.names and choice.mode == "auto" else _MODES[choice.mode]
            names = {"allowedFunctionNames": list(choice.names)} if choice.names and choice.mode != "none" else {}
            new.put(("toolConfig", "functionCallingConfig"), {"mode": mode, **names})
        if parallel is False:
            new.leave_out("parallel_calls")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        new.put(("generationConfig", "responseMimeType"), "application/json")
        if format.schema is not None:
            key = "responseSchema" if fits_openapi(format.schema) else "responseJsonSchema"
            new.put(("generationConfig", key), format.schema)

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        at = ("generationConfig", "thinkingConfig")
        if reasoning.budget is not None or reasoning.effort == "none":
            new.put((*at, "thinkingBudget"), reasoning.budget or 0)
        elif reasoning.effort:
            new.put((*at, "thinkingLevel"), self.effort_of(new, reasoning).upper())
        else:
            new.put((*at, "thinkingBudget"), -1)


def _declared(value: Any, place: str) -> Iterator[Tool | Change]:
    if isinstance(value, Mapping):
        plain = next((value[key] for key in ("parametersJsonSchema", "parameters_json_schema") if value.get(key)), None)
        schema = from_openapi(value.get("parameters")) if plain is None else plain
        rest = {key: each for key, each in value.items() if key not in ("parametersJsonSchema", "parameters_json_schema")}
        value = {**rest, "parameters": schema}
    yield from read_function(value, place, "parameters")


def _declaration(tool: Tool) -> dict[str, Any]:
    """Return the declaration of a function. A schema that Gemini's Schema cannot express is written as a JSON Schema; a function
    without arguments has no schema."""
    members: dict[str, Any] = {"name": tool.name, **({"description": tool.description} if tool.description else {})}
    if is_empty(tool.schema):
        return members
    schema = object_schema(tool.schema)
    return {**members, "parameters" if fits_openapi(schema) else "parametersJsonSchema": schema}


def _choice(value: dict[str, Any]) -> ToolChoice | None:
    mode = _CHOICES.get(str(value.get("mode", "AUTO")).upper())
    names = value.get("allowedFunctionNames", value.get("allowed_function_names"))
    return ToolChoice(mode, tuple(map(str, names)) if isinstance(names, list) else ()) if mode else None  # type: ignore[arg-type]


class Gemini(BlockFormat):
    name = "gemini"
    label = "Gemini generateContent"
    api = "gemini"
    accepts = Accepts(
        kinds=OWN_KINDS - {UNCLEAR},
        images=ANY,
        files=ANY,
        addresses=frozenset(("http", "https", "gs")),
        reasoning=True,
        media_of_model=True,
    )
    tested_with = "google-genai 3.4, request-response logs of Vertex AI"
    slot_key = "systemInstruction"
    request = GeminiForm()
    slot_aliases = ("system_instruction",)
    template = '{"contents": [\n]}\n'
    blocks, blocks_at, words = _BLOCKS, _BLOCKS.at, WORDS
    late_system = "a system message that is not the first message becomes a user message"
    names_results = True
    hints = ("parts",)
    answers = ((), ("candidates", "content"), ("contents",))
    sequences = (
        (("request", "contents"), ("response", "candidates", "content")),
        (("request", "body", "contents"), ("response", "body", "candidates", "content")),
        (("full_request", "contents"), ("full_response", "candidates", "content")),
    )
    known_kinds = frozenset(("executableCode", "codeExecutionResult", "inlineData", "fileData", "toolCall", "toolResponse", UNCLEAR))

    def is_message(self, value: object) -> bool:
        return _rate(value) > 0

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values]
        if not rates or not max(rates):
            return 0.0
        is_request = sample.key == "contents" or any(key in sample.beside for key in _ENVELOPE)
        return max(*rates, 0.96) if is_request else max(rates)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = unit.value
            if unit.ordinal == SLOT:
                if type(value) in (str, dict):
                    yield self.message(SYSTEM, (Fragment(SLOT, "", unit.text, None, unit.start),))
            elif type(value) is dict and type(value.get("parts", [])) in (list, dict, type(None)):
                for role, blocks in role_runs(value):
                    yield self.message(role, (unit.fragment(blocks),))
            else:
                yield unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = parse(first.text)
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = role_runs(value)[0][0] if value.get("parts") else role
        parts = [part for parts in read_fragments(source, _BLOCKS, role) for part in parts]
        return Message(role, tuple(parts), source=source, label=_label(value, role))

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        return speller.list(PartWriter(style.near, speller).parts(message.parts))

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts)


def _label(value: Any, role: Role) -> str:
    """Return the document's spelling of a role if it is not the usual one; otherwise ""."""
    word = word_of(value) if isinstance(value, dict) and "role" in value else ""
    return word if word and WORDS.get(role) != word.lower() and role != SYSTEM else ""


def _rate(value: object) -> float:
    """Return the confidence that a value is a content of this API. Parts of other formats have a type or kind."""
    if not isinstance(value, dict) or not isinstance(value.get("parts"), list | dict) or "kind" in value or "content" in value:
        return 0.0
    role = value.get("role", "user")
    items = [item for item in as_list(value["parts"]) if isinstance(item, dict)]
    if any("type" in item or "part_kind" in item or "kind" in item for item in items) or not isinstance(role, str):
        return 0.0
    fields = [field_of(item) for item in items]
    if any(field not in ("", "text") for field in fields):
        return 0.95
    if role.lower() == "model":
        return 0.9
    return 0.8 if role.lower() in ROLES and any(fields) else 0.0
