"""Messages that Mastra stores (format 2): UIMessages of the Vercel AI SDK 4 whose parts lie in the content."""

from __future__ import annotations

from chainviz.core.chain.messages import Part, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.blocks.block_units import value_at
from chainviz.core.dialects.leaves import Host, as_json
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.units import Sample
from chainviz.core.formats.frameworks.ui_message_format import UIMessageFormat


class Mastra(UIMessageFormat):
    name = "mastra"
    label = "Mastra messages"
    tested_with = "source of Mastra, messages of format 2"
    blocks_at = ("content", "parts")

    def is_message(self, value: object) -> bool:
        return super().is_message(value) and value_at(value, ("content", "format")) == 2

    def confidence(self, sample: Sample) -> float:
        return 0.97 if any(map(self.is_message, sample.values)) else 0.0

    def elements(self, part: Part, host: Host, speller: Speller) -> list[str]:
        """Reasoning, calls and results are spelled as in version 4 of the SDK."""
        if isinstance(part, Thinking) and not part.redacted:
            return [_reasoning(part, speller)]
        return [_invocation(part, speller)] if isinstance(part, ToolCall | ToolResult) else super().elements(part, host, speller)

    def empty(self, speller: Speller) -> dict[str, str]:
        return {"content": speller.object({"format": "2", "parts": "[]"})}


def _reasoning(part: Thinking, speller: Speller) -> str:
    texts = {"text": part.content} | ({"signature": part.signature} if part.signature else {})
    detail = speller.object({"type": '"text"', **{key: speller.quote(text) for key, text in texts.items()}})
    return speller.object({"type": '"reasoning"', "reasoning": '""', "details": speller.list([detail])})


def _invocation(part: ToolCall | ToolResult, speller: Speller) -> str:
    if isinstance(part, ToolCall):
        state, id, ends = "call", part.id, {"args": as_json(part.arguments, "", speller)}
    else:
        state, key = ("output-error", "errorText") if part.is_error else ("result", "result")
        id, ends = part.call_id, {"args": "{}", key: speller.quote(part.content)}
    head = {"state": state, "toolCallId": id, "toolName": part.name}
    call = {**{key: speller.quote(text) for key, text in head.items()}, **ends}
    return speller.object({"type": '"tool-invocation"', "toolInvocation": speller.object(call)})
