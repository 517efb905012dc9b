"""Anthropic Messages: requests, bare lists, responses and recorded streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import AI, SLOT, SYSTEM, Fragment, Message, Opaque, Part, Role, Text
from chainviz.core.dialects.values import Speller, string_of
from chainviz.core.documents.json.edit import parse, value_of
from chainviz.core.documents.units import Pointer, Sample, Unit
from chainviz.core.formats.blocks import BlockFormat, Blocks, Content, Run, read_fragments, value_at
from chainviz.core.formats.contract import COMPACT_SUMMARY, PDF, Accepts, Style
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
from chainviz.core.formats.streams import Chunk, Chunks, Joined, append_text, index_of, list_at, message_text, object_at, with_arguments
from chainviz.core.formats.vendors.anthropic.blocks import (
    OWN_KINDS,
    RESULT_FORM,
    ROLES,
    WORDS,
    ResultForm,
    losses,
    new_content,
    patched_content,
    read_blocks,
    role_runs,
)

_BLOCKS = Blocks(("content",), read_blocks, patched_content)


class AnthropicBlocksFormat(BlockFormat):
    """The base of formats whose messages contain Anthropic's blocks: the API and programs that store its messages."""

    template = '{"messages": [\n]}\n'
    form: ResultForm = RESULT_FORM
    blocks: Blocks = _BLOCKS
    blocks_at: Pointer = _BLOCKS.at
    words = WORDS
    hints: tuple[str, ...] = ("role",)

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or "messages" in value:
            return False
        return value["role"] in ROLES

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = value_at(unit.value, self.blocks_at[:-1])
            if unit.ordinal == SLOT and type(unit.value) in (str, list):
                source = (Fragment(SLOT, "", unit.text, None, unit.start),)
                yield Message(SYSTEM, tuple(self.blocks.read(Content(unit.value, unit.text), SYSTEM)), source=source)
            elif type(value) is dict and type(value.get("role")) is str:
                content = value.get("content")
                for role, blocks in self.runs(value["role"], content):
                    parts = tuple(self.blocks.read(Content(content, unit.text, self.blocks_at, blocks), role))
                    source = (unit.fragment(blocks),)
                    yield Message(role, parts, source=source, note=_note(value), label=_label(parts))
            elif unit.ordinal != SLOT:
                yield unit

    def runs(self, word: str, content: Any) -> list[Run]:
        """Return the messages of a unit with this role."""
        return role_runs(word, content)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = value_at(value_of(first), self.blocks_at[:-1])
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = self.runs(value["role"], value.get("content"))[0][0] if value.get("content") != [] else role
        parts = [part for parts in read_fragments(source, self.blocks, role) for part in parts]
        return Message(role, tuple(parts), source=source, note=_note(value), label=_label(parts))

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        near = value_at(parse(style.near), self.blocks_at) if style.near else None
        only = message.parts[0] if len(message.parts) == 1 else None
        as_text = isinstance(only, Text) and (only.reasoning is None or only.reasoning.is_empty or message.role != AI)
        if isinstance(only, Text) and as_text and not isinstance(near, list):
            return speller.quote(only.text)
        return new_content(message.parts, speller, self.form)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts, self.form)


def _label(parts: Iterable[Part]) -> str:
    """Return the label of a message with a compaction block, which replaces all messages before it; "" for any other message."""
    return COMPACT_SUMMARY if any(isinstance(part, Opaque) and part.kind == "compaction" for part in parts) else ""


def _note(value: Any) -> str:
    reason = value.get("stop_reason") if isinstance(value, dict) else None
    return reason if isinstance(reason, str) else ""


_PROOFS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "web_search_tool_result", "search_result",
     "document", "container_upload", "mcp_tool_use", "mcp_tool_result", "compaction")
)  # fmt: skip
_OTHERS = (None, "input_text", "output_text", "tool-call", "tool-result", "image_url", "input_image")
"""Block types of other formats; Bedrock's blocks have none."""
_THEIR_ROLES = frozenset(("tool", "function", "developer", "model", "human", "ai"))
_AGAINST = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "parts")


MAX_TOKENS = 4_096
"""A max_tokens that every model of Anthropic accepts."""
LEAST_BUDGET = 1_024
"""The smallest thinking budget, in tokens."""
_MODES = {"auto": "auto", "none": "none", "required": "any"}
_CHOICES = {"auto": ToolChoice("auto"), "none": ToolChoice("none"), "any": ToolChoice("required")}


class AnthropicForm(RequestForm):
    """Requests of Anthropic Messages (anthropic-sdk-python, types/message_create_params.py)."""

    family = "anthropic"
    numbers = {
        "max_tokens": (("max_tokens",),), "temperature": (("temperature",),), "top_p": (("top_p",),), "top_k": (("top_k",),),
    }  # fmt: skip
    limits = {"temperature": (0, 1), "top_p": (0, 1)}
    requires = {"max_tokens": MAX_TOKENS}
    stop_at = (("stop_sequences",),)
    efforts = ("low", "medium", "high", "xhigh", "max")

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        name = members.name(("tools",))
        for index, value in enumerate(members.take(("tools",), list, "tools") or ()):
            place = f"{name}[{index}]"
            is_own = isinstance(value, dict) and value.get("type", "custom") not in ("custom", None)
            yield from (own_tool(value, place),) if is_own else read_function(value, place, "input_schema")

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        is_single = members.take(("tool_choice", "disable_parallel_tool_use"), bool, "parallel_calls")
        choice = members.read(("tool_choice",), dict, "tool_choice", _choice)
        return choice, None if is_single is None else not is_single

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        places = (("output_config", "format"), ("output_format",))
        found = [members.read(place, dict, "response_format", _response_format) for place in places]
        return found[0] or found[1]

    def read_reasoning(self, members: Members) -> Reasoning | None:
        effort = members.take(("output_config", "effort"), str, "reasoning") or ""
        found = members.read(("thinking",), dict, "reasoning", _reasoning)
        if found is None or (effort and not found.effort):
            return Reasoning(effort, found.budget if found else None) if effort else None
        return found

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        new.put(("tools",), [function_members(tool, "input_schema", tool.strict) for tool in tools])

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and choice.names and (len(choice.names) > 1 or choice.mode != "required"):
            new.leave_out("tool_choice")
        elif choice and choice.names:
            new.put(("tool_choice",), {"type": "tool", "name": choice.names[0]})
        elif choice:
            new.put(("tool_choice",), {"type": _MODES[choice.mode]})
        if parallel is False and choice and choice.mode == "none":
            new.leave_out("parallel_calls")
        elif parallel is False:
            new.members.setdefault("tool_choice", {"type": "auto"})["disable_parallel_tool_use"] = True

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        if format.schema is None:
            new.leave_out("response_format")
        else:
            new.put(("output_config", "format"), {"type": "json_schema", "schema": format.schema})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        """Write the reasoning settings. A model that must call a tool cannot think; the budget must be below max_tokens; and thinking
        fixes the temperature and forbids top_k."""
        choice = new.settings.tool_choice
        if choice and choice.mode == "required" and new.settings.tools:
            new.leave_out("reasoning")
            return
        if reasoning.effort == "none" or reasoning.budget == 0:
            new.put(("thinking",), {"type": "disabled"})
            return
        if reasoning.budget is not None:
            budget = max(reasoning.budget, LEAST_BUDGET)
            if budget > reasoning.budget:
                new.change("reasoning", f"a budget of {reasoning.budget:,} tokens", f"one of {budget:,}")
            new.put(("thinking",), {"type": "enabled", "budget_tokens": budget})
            if new.members["max_tokens"] <= budget:
                new.change("max_tokens", f"{new.members['max_tokens']:,}", f"{budget + MAX_TOKENS:,}")
                new.put(("max_tokens",), budget + MAX_TOKENS)
        else:
            new.put(("thinking",), {"type": "adaptive"})
        if reasoning.effort:
            new.put(("output_config", "effort"), self.effort_of(new, Reasoning(reasoning.effort)))
        for setting in ("temperature", "top_k"):
            if setting in new.members and (setting, new.members[setting]) != ("temperature", 1):
                del new.members[setting]
                new.leave_out(setting)


def _choice(value: dict[str, Any]) -> ToolChoice | None:
    name = value.get("name")
    if value.get("type") == "tool":
        return ToolChoice("required", (name,)) if isinstance(name, str) else None
    return _CHOICES.get(str(value.get("type")))


def _response_format(value: dict[str, Any]) -> ResponseFormat | None:
    schema = value.get("schema")
    return ResponseFormat(schema, strict=True) if isinstance(schema, dict) else None


def _reasoning(value: dict[str, Any]) -> Reasoning | None:
    kind, budget = value.get("type"), value.get("budget_tokens")
    if kind == "enabled" and isinstance(budget, int):
        return Reasoning(budget=budget)
    return Reasoning("none" if kind == "disabled" else "") if kind in ("disabled", "adaptive") else None


class Anthropic(AnthropicBlocksFormat):
    name = "anthropic"
    label = "Anthropic Messages"
    api = "anthropic"
    accepts = Accepts(kinds=OWN_KINDS, files=frozenset((PDF,)))
    tested_with = "anthropic 2.12, Cline and Roo Code 3"
    slot_key = "system"
    known_kinds = frozenset(("tool_addition", "tool_removal", "mcp_tool_listing", "fallback"))
    request = AnthropicForm()
    answers = ((), ("response",), ("response", "body"), ("response_body",), ("output",), ("outputBodyJson",), ("modelOutput",))
    sequences = (
        (("request", "messages"), ("response",)),
        (("request", "body", "messages"), ("response", "body")),
        (("request_body", "messages"), ("response_body",)),
        (("inputs", "messages"), ("output",)),
        (("modelInput", "messages"), ("modelOutput",)),
        (("input", "inputBodyJson", "messages"), ("output", "outputBodyJson")),
    )

    def confidence(self, sample: Sample) -> float:
        score = 0.0
        for value in sample.values:
            if not isinstance(value, dict) or not isinstance(value.get("role"), str):
                if isinstance(value, dict) and isinstance(value.get("type"), str):
                    return 0.05
                continue
            if any(key in value for key in _AGAINST) or value["role"] in _THEIR_ROLES:
                return 0.0
            content = value.get("content")
            blocks = content if isinstance(content, list) else []
            score = max(score, 0.3 if value["role"] in ROLES else 0.05, *[_rate_block(item) for item in blocks])
            if any(isinstance(item, dict) and item and item.get("type") in _OTHERS for item in blocks):
                return 0.05
            if value.get("type") == "message" and "stop_reason" in value:
                score = 0.97
            if "ts" in value and blocks:
                score = max(score, 0.7)  # Cline and Roo write this with every API
        return max(score, _rate_envelope(sample.beside)) if score or not sample.values else 0.0


def _rate_block(item: Any) -> float:
    if not isinstance(item, dict):
        return 0.0
    kind = item.get("type")
    if (isinstance(kind, str) and kind in _PROOFS) or (kind == "image" and isinstance(item.get("source"), dict)):
        return 0.95
    return 0.9 if kind == "thinking" and isinstance(item.get("thinking"), str) else 0.0


def _rate_envelope(beside: dict[str, Any]) -> float:
    tools = beside.get("tools")
    if isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools):
        return 0.95
    if "anthropic_version" in beside or isinstance(beside.get("mcp_servers"), list):
        return 0.95
    management = beside.get("context_management")
    if isinstance(management, dict) and isinstance(management.get("edits"), list):
        return 0.95
    system = beside.get("system")
    if isinstance(system, str) and system:
        return 0.8
    if isinstance(system, list) and system and all(isinstance(i, dict) and i.get("type") == "text" for i in system):
        return 0.9
    return 0.0


_TYPES = frozenset(
    ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "ping")
)  # fmt: skip
_DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


def _join(chunks: Sequence[Chunk]) -> Joined:
    message: Chunk = {}
    blocks: dict[int, Chunk] = {}
    inputs: dict[int, str] = {}
    for chunk in chunks:
        kind, delta, index = string_of(chunk, "type"), object_at(chunk, "delta"), index_of(chunk)
        if kind == "message_start":
            message |= object_at(chunk, "message")
        elif kind == "content_block_start" and index is not None:
            blocks[index] = dict(object_at(chunk, "content_block"))
        elif kind == "content_block_delta" and index is not None:
            block = blocks.setdefault(index, {"type": "text", "text": ""})
            inputs[index] = inputs.get(index, "") + _add_delta(block, delta)
        elif kind == "message_delta":
            message |= {key: value for key, value in delta.items() if value is not None}
    texts = [with_arguments(blocks[index], "input", inputs.get(index, "")) for index in sorted(blocks)]
    return Joined((message_text(message, texts),), string_of(message, "stop_reason"))


def _add_delta(block: Chunk, delta: Chunk) -> str:
    """Return the piece of a call's input in a delta; "" after adding any other delta to the block."""
    kind = string_of(delta, "type")
    if kind in _DELTAS:
        append_text(block, _DELTAS[kind], delta.get(_DELTAS[kind]))
    elif kind == "citations_delta":
        block["citations"] = [*list_at(block, "citations"), delta.get("citation")]
    return string_of(delta, "partial_json") if kind == "input_json_delta" else ""


ANTHROPIC = Chunks(
    is_chunk=lambda chunk: string_of(chunk, "type") in _TYPES and "payload" not in chunk,
    joined=_join,
    opens=lambda chunk: chunk.get("type") == "message_start",
    answer_at=(),
)
