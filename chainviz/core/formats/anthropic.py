"""Anthropic Messages: requests with their top-level system, bare lists, response messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chainviz.core.chain.messages import AI, SLOT, SYSTEM, Fragment, Message, Role, Text
from chainviz.core.dialects.blocks.anthropic_read import RESULT_FORM, ROLES, WORDS, ResultForm, read_blocks, role_runs
from chainviz.core.dialects.blocks.anthropic_write import losses, new_content, patched_content
from chainviz.core.dialects.blocks.block_units import Blocks, Content, Run, read_fragments, value_at
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json.edit import parse
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.block_format import BlockFormat
from chainviz.core.formats.contract import Style

_PROOFS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "web_search_tool_result", "search_result",
     "document", "container_upload", "mcp_tool_use", "mcp_tool_result")
)  # fmt: skip
_OTHERS = (None, "input_text", "output_text", "tool-call", "tool-result", "image_url", "input_image")
"""Block types of other formats; Bedrock's blocks have none."""
_THEIR_ROLES = frozenset(("tool", "function", "developer", "model", "human", "ai"))
_AGAINST = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "parts")

_BLOCKS = Blocks(("content",), read_blocks, patched_content)


class Anthropic(BlockFormat):
    name = "anthropic"
    label = "Anthropic Messages"
    tested_with = "anthropic 2.12, Cline and Roo Code 3"
    slot_key = "system"
    template = '{"messages": [\n]}\n'
    form: ResultForm = RESULT_FORM
    blocks, blocks_at, words = _BLOCKS, _BLOCKS.at, WORDS
    hints = ("role",)
    answers = ((), ("response",), ("response", "body"), ("response_body",), ("output",), ("outputBodyJson",))
    sequences = (
        (("request", "messages"), ("response",)),
        (("request", "body", "messages"), ("response", "body")),
        (("request_body", "messages"), ("response_body",)),
        (("inputs", "messages"), ("output",)),
        (("input", "inputBodyJson", "messages"), ("output", "outputBodyJson")),
    )

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict) or not isinstance(value.get("role"), str) or "messages" in value:
            return False
        return value["role"] in ROLES

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
                score = max(score, 0.7)  # Cline and Roo, whatever API they talk to
        return max(score, _rate_envelope(sample.beside)) if score or not sample.values else 0.0

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        for unit in units:
            value = unit.value
            if unit.ordinal == SLOT and type(value) in (str, list):
                source = (Fragment(SLOT, "", unit.text, None, unit.start),)
                yield Message(SYSTEM, tuple(self.blocks.read(Content(value, unit.text), SYSTEM)), source=source)
            elif type(value) is dict and type(value.get("role")) is str:
                content = value.get("content")
                for role, blocks in self.runs(value["role"], content):
                    parts = self.blocks.read(Content(content, unit.text, self.blocks_at, blocks), role)
                    source = (unit.fragment(blocks),)
                    yield Message(role, tuple(parts), source=source, note=_note(value))
            elif unit.ordinal != SLOT:
                yield unit

    def runs(self, word: str, content: Any) -> list[Run]:
        """The messages that a unit with this role feeds."""
        return role_runs(word, content)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        first = source[0]
        value = parse(first.text)
        if first.ordinal == SLOT:
            role = SYSTEM
        elif first.blocks is None:
            role = self.runs(value["role"], value.get("content"))[0][0] if value.get("content") != [] else role
        parts = [part for parts in read_fragments(source, self.blocks, role) for part in parts]
        return Message(role, tuple(parts), source=source, note=_note(value))

    def content(self, message: Message, style: Style, speller: Speller) -> str:
        near = value_at(parse(style.near), self.blocks_at) if style.near else None
        only = message.parts[0] if len(message.parts) == 1 else None
        as_text = isinstance(only, Text) and (only.reasoning is None or only.reasoning.is_empty or message.role != AI)
        if isinstance(only, Text) and as_text and not isinstance(near, list):
            return speller.quote(only.text)
        return new_content(message.parts, speller, self.form)

    def losses(self, message: Message) -> tuple[str, ...]:
        return losses(message.parts, self.form)


def _note(value: Any) -> str:
    reason = value.get("stop_reason") if isinstance(value, dict) else None
    return reason if isinstance(reason, str) else ""


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
    if "anthropic_version" in beside:
        return 0.95
    system = beside.get("system")
    if isinstance(system, str) and system:
        return 0.8
    if isinstance(system, list) and system and all(isinstance(i, dict) and i.get("type") == "text" for i in system):
        return 0.9
    return 0.0


