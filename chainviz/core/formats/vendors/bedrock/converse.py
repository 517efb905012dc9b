"""Bedrock Converse: requests, bare lists, responses and recorded streams."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import SLOT, SYSTEM, Fragment, Message, Role
from chainviz.core.dialects.values import Speller, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.blocks import BlockFormat, Blocks, read_fragments
from chainviz.core.formats.contract import Accepts, Style
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
from chainviz.core.formats.vendors.bedrock.blocks import (
    DOCUMENTS,
    OWN_KINDS,
    ROLES,
    WORDS,
    kind_of,
    losses,
    new_blocks,
    patched_content,
    read_blocks,
    role_runs,
)
from chainviz.core.formats.vendors.openai_form.request import json_schema_members, read_json_schema

_BLOCKS = Blocks(("content",), read_blocks, patched_content)
_ENVELOPE = ("modelId", "toolConfig", "inferenceConfig", "additionalModelRequestFields", "guardrailConfig")
_PROOFS = OWN_KINDS - {"image", "document"}


class BedrockConverseForm(RequestForm):
    """Requests of Converse (botocore, bedrock-runtime, ConverseRequest)."""

    family = "bedrock"
    model_at = ("modelId",)
    numbers = {
        "max_tokens": (("inferenceConfig", "maxTokens"),), "temperature": (("inferenceConfig", "temperature"),),
        "top_p": (("inferenceConfig", "topP"),),
    }  # fmt: skip
    limits = {"temperature": (0, 1), "top_p": (0, 1)}
    stop_at = (("inferenceConfig", "stopSequences"),)
    efforts = ("low", "medium", "high", "xhigh", "max")
    needs_called_tools = True

    def read_tools(self, members: Members) -> Iterator[Tool | Change]:
        name = members.name(("toolConfig", "tools"))
        for index, value in enumerate(members.take(("toolConfig", "tools"), list, "tools") or ()):
            spec = value.get("toolSpec") if isinstance(value, dict) else None
            if isinstance(spec, dict):
                schema = spec["inputSchema"].get("json") if isinstance(spec.get("inputSchema"), dict) else None
                yield from read_function({**spec, "inputSchema": schema}, f"{name}[{index}].toolSpec", "inputSchema")
            else:
                yield _own_tool(value, f"{name}[{index}]")

    def read_tool_choice(self, members: Members) -> tuple[ToolChoice | None, bool | None]:
        return members.read(("toolConfig", "toolChoice"), dict, "tool_choice", _choice), None

    def read_response_format(self, members: Members) -> ResponseFormat | None:
        return members.read(("outputConfig", "textFormat"), dict, "response_format", _response_format)

    def read_reasoning(self, members: Members) -> Reasoning | None:
        effort = members.take(("outputConfig", "effort"), str, "reasoning")
        return Reasoning(effort) if effort else None

    def write_tools(self, new: NewRequest, tools: Sequence[Tool]) -> None:
        specs = [function_members(tool, "inputSchema", tool.strict) for tool in tools]
        new.put(("toolConfig", "tools"), [{"toolSpec": {**spec, "inputSchema": {"json": spec["inputSchema"]}}} for spec in specs])

    def write_tool_choice(self, new: NewRequest, choice: ToolChoice | None, parallel: bool | None) -> None:
        if choice and len(choice.names) == 1 and choice.mode == "required":
            new.put(("toolConfig", "toolChoice"), {"tool": {"name": choice.names[0]}})
        elif choice and (choice.names or choice.mode == "none"):
            new.leave_out("tool_choice")
        elif choice:
            new.put(("toolConfig", "toolChoice"), {"any" if choice.mode == "required" else "auto": {}})
        if parallel is False:
            new.leave_out("parallel_calls")

    def write_response_format(self, new: NewRequest, format: ResponseFormat) -> None:
        if format.schema is None:
            new.leave_out("response_format")
            return
        members = json_schema_members(ResponseFormat(format.schema, format.name, format.description))
        structure = {"jsonSchema": {**members, "schema": json.dumps(members["schema"])}}
        new.put(("outputConfig", "textFormat"), {"type": "json_schema", "structure": structure})

    def write_reasoning(self, new: NewRequest, reasoning: Reasoning) -> None:
        """Write the effort. A budget is left out, because each model spells it differently in additionalModelRequestFields."""
        if reasoning.effort and reasoning.effort != "none":
            new.put(("outputConfig", "effort"), self.effort_of(new, Reasoning(reasoning.effort)))
        if reasoning.budget is not None or not reasoning.effort or reasoning.effort == "none":
            new.leave_out("reasoning")


def _own_tool(value: Any, place: str) -> Change:
    system = value.get("systemTool") if isinstance(value, dict) else None
    return own_tool(system, place) if isinstance(system, dict) else Change("left-out", place)


def _choice(value: dict[str, Any]) -> ToolChoice | None:
    tool = value.get("tool")
    if isinstance(tool, dict):
        return ToolChoice("required", (tool["name"],)) if isinstance(tool.get("name"), str) else None
    return ToolChoice("required" if "any" in value else "auto") if "any" in value or "auto" in value else None


def _response_format(value: dict[str, Any]) -> ResponseFormat | None:
    structure = value.get("structure")
    inner = structure.get("jsonSchema") if isinstance(structure, dict) else None
    try:
        return read_json_schema(json.loads(inner["schema"]), inner) if isinstance(inner, dict) else None
    except (KeyError, TypeError, ValueError):
        return None


class BedrockConverse(BlockFormat):
    """Bedrock Converse: requests with system blocks, bare message lists, and responses."""

    name = "bedrock_converse"
    label = "Bedrock Converse"
    api = "bedrock"
    accepts = Accepts(kinds=OWN_KINDS, files=frozenset(DOCUMENTS.values()), addresses=frozenset(("s3",)))
    tested_with = "botocore 1.44, logs of model invocations"
    slot_key = "system"
    request = BedrockConverseForm()
    template = '{"messages": [\n]}\n'
    blocks, blocks_at, words = _BLOCKS, _BLOCKS.at, WORDS
    hints = ("role",)
    joins_turns = True
    known_kinds = OWN_KINDS - {"toolUse", "toolResult"}
    answers = ((), ("output", "message"))
    sequences = (
        (("request", "messages"), ("response", "output", "message")),
        (("request", "body", "messages"), ("response", "body", "output", "message")),
        (("modelInput", "messages"), ("modelOutput", "output", "message")),
        (("input", "inputBodyJson", "messages"), ("output", "outputBodyJson", "output", "message")),
    )

    def is_message(self, value: object) -> bool:
        return _rate(value) > 0

    def confidence(self, sample: Sample) -> float:
        rates = [_rate(value) for value in sample.values]
        if not rates or not max(rates):
            return 0.0
        return max(*rates, 0.96) if any(key in sample.beside for key in _ENVELOPE) else max(rates)

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = unit.value
            if unit.ordinal == SLOT and type(value) is list and value:
                yield self.message(SYSTEM, (Fragment(SLOT, "", unit.text, None, unit.start),))
            elif type(value) is dict and type(value.get("role")) is str:
                for role, blocks in role_runs(value["role"], value.get("content")):
                    yield self.message(role, (unit.fragment(blocks),))
            elif unit.ordinal != SLOT:
                yield unit

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = parse(first.text)
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = role_runs(value["role"], value.get("content"))[0][0] if value.get("content") else role
        parts = [part for parts in read_fragments(source, _BLOCKS, role) for part in parts]
        return Message(role, tuple(parts), source=source)

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        return speller.list([block for part in message.parts for block in new_blocks(part, speller)])

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts)


def _rate(value: Any) -> float:
    """Return the confidence that a value is a message of this API. Its blocks have one key each and no type."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), list):
        return 0.0
    if not isinstance(value.get("role"), str) or value["role"] not in ROLES:
        return 0.0
    kinds = [kind_of(item) for item in value["content"] if isinstance(item, dict)]
    if any(kind in _PROOFS for kind in kinds):
        return 0.95
    return 0.9 if kinds and all(kind == "text" or kind in OWN_KINDS for kind in kinds) else 0.0


_MEMBERS = {
    "messageStart": "role", "contentBlockStart": "contentBlockIndex", "contentBlockDelta": "contentBlockIndex",
    "contentBlockStop": "contentBlockIndex", "messageStop": "stopReason",
}  # fmt: skip
"""The types of events, each with a member that it always has."""


def _join(chunks: Sequence[Chunk]) -> Joined:
    blocks: dict[int, Chunk] = {}
    inputs: dict[int, str] = {}
    reason = ""
    for chunk in chunks:
        start, delta = object_at(chunk, "contentBlockStart"), object_at(chunk, "contentBlockDelta")
        reason = string_of(object_at(chunk, "messageStop"), "stopReason") or reason
        index = index_of(start or delta, "contentBlockIndex")
        if index is None:
            continue
        if start:
            blocks[index] = {key: dict(value) for key, value in object_at(start, "start").items() if type(value) is dict}
        else:
            inputs[index] = inputs.get(index, "") + _add_delta(blocks.setdefault(index, {}), object_at(delta, "delta"))
    texts = [_block_text(blocks[index], inputs.get(index, "")) for index in sorted(blocks) if blocks[index]]
    return Joined((message_text({}, texts),), "" if reason == "end_turn" else reason)


def _add_delta(block: Chunk, delta: Chunk) -> str:
    """Return the piece of a call's input in a delta; "" after adding any other delta to the block."""
    append_text(block, "text", delta.get("text"))
    thought = object_at(delta, "reasoningContent")
    if thought:
        _add_thought(block.setdefault("reasoningContent", {}), thought)
    if "citation" in delta:
        cited = block.setdefault("citationsContent", {"content": [], "citations": []})
        cited["citations"].append(delta["citation"])
    if list_at(delta, "toolResult"):
        result = block.setdefault("toolResult", {})
        result["content"] = [*list_at(result, "content"), *list_at(delta, "toolResult")]
    if object_at(delta, "image"):
        block.setdefault("image", {}).update(object_at(delta, "image"))
    return string_of(object_at(delta, "toolUse"), "input")


def _add_thought(holder: Chunk, thought: Chunk) -> None:
    if "redactedContent" in thought:
        append_text(holder, "redactedContent", thought["redactedContent"])
        return
    for key in ("text", "signature"):
        if key in thought:
            append_text(holder.setdefault("reasoningText", {}), key, thought[key])


def _block_text(block: Chunk, arguments: str) -> str:
    if "toolUse" in block:
        return f'{{"toolUse": {with_arguments({"input": {}, **block["toolUse"]}, "input", arguments)}}}'
    cited = block.get("citationsContent")
    if cited and "text" in block:
        return dump({"citationsContent": {**cited, "content": [{"text": block["text"]}]}})
    return dump(block)


def _is_event(chunk: Chunk) -> bool:
    return any(member in object_at(chunk, key) for key, member in _MEMBERS.items())


BEDROCK = Chunks(is_chunk=_is_event, joined=_join, opens=lambda chunk: "messageStart" in chunk, answer_at=("output", "message"))
