"""OpenAI Chat Completions and what speaks like it: bare lists, requests, responses, JSON Lines, tau-bench, tau2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chainviz.core.chain.messages import NEW, TOOL, Binary, Fragment, Message, Opaque, Role, ToolResult
from chainviz.core.dialects.openai_patch import patched
from chainviz.core.dialects.openai_read import ROLES, read_message
from chainviz.core.dialects.openai_write import OWN_KINDS, message_text
from chainviz.core.dialects.patching import Speller, reasoning_of
from chainviz.core.dialects.whole_units import read_again, read_units
from chainviz.core.documents.units import Sample, Unit
from chainviz.core.formats.contract import Format, Style

_PROOFS = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "refusal")
_FOREIGN_BLOCKS = frozenset(
    ("tool_use", "tool_result", "redacted_thinking", "server_tool_use", "tool-call", "tool-result", "input_text",
     "output_text", "functionCall", "functionResponse", "toolUse", "toolResult")
)  # fmt: skip


class OpenAIChat(Format):
    name = "openai_chat"
    label = "OpenAI Chat Completions"
    blocks_at = ("content",)
    packs = False

    def confidence(self, sample: Sample) -> float:
        """Plain role and content lists are taken for this format: it is the most common one."""
        score = 0.0
        for value in sample.values:
            if not isinstance(value, dict) or not isinstance(value.get("role"), str):
                if isinstance(value, dict) and isinstance(value.get("type"), str):
                    return 0.1
                continue
            if "parts" in value and "content" not in value:
                return 0.0
            content = value.get("content")
            kinds = {item.get("type") for item in content if isinstance(item, dict)} if isinstance(content, list) else set()
            if any(isinstance(kind, str) and kind in _FOREIGN_BLOCKS for kind in kinds):
                return 0.05
            if isinstance(content, list) and any(isinstance(item, dict) and "type" not in item for item in content):
                score = max(score, 0.1)
                continue
            known = value["role"] in ROLES and value["role"] != "model"
            score = max(score, 0.9 if any(key in value for key in _PROOFS) else 0.6 if known else 0.3)
        return score

    def read(self, units: Iterable[Unit]) -> Iterator[Message | Unit]:
        return read_units(units, read_message)

    def message(self, role: Role, source: tuple[Fragment, ...]) -> Message:
        return read_again(source, read_message)

    def write(self, message: Message, style: Style) -> tuple[Fragment, ...]:
        if not message.source:
            text = message_text(message, style.near, Speller(style.near, style.ascii))
            return (Fragment(NEW, "", text),)
        first = message.source[0]
        if self.message(message.role, (first,)) == message:
            return (first,)
        return (Fragment(first.ordinal, first.lead, patched(message, first.text, style.near, style.ascii)),)

    def losses(self, message: Message) -> tuple[str, ...]:
        lost = []
        if any(item.signature for item in reasoning_of(message)):
            lost.append("signatures of reasoning have no place here")
        if any(isinstance(part, Opaque) and part.kind not in OWN_KINDS for part in message.parts):
            lost.append("parts of kinds this format does not know are left out")
        if any(isinstance(part, Binary) and not part.mime.startswith("image/") for part in message.parts):
            lost.append("files become data: URLs")
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if any(part.is_error for part in results):
            lost.append("a result cannot be marked as an error")
        if message.role == TOOL and len(results) > 1:
            lost.append("several results of one message become one")
        return tuple(lost)
