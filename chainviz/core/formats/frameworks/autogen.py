"""AutoGen AgentChat: the messages and events of a run or of a team's thread, and the context of an agent in a saved state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from chainviz.core.chain.messages import Image, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.members import objects_of, string_of
from chainviz.core.formats.read_only_units import ReadOnlyUnits, Said, as_text, inner, unknown

_HUMAN = "user"
_KINDS = {
    "SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool", "TextMessage": "", "MultiModalMessage": "", "StopMessage": "",
    "HandoffMessage": "", "StructuredMessage": "", "ToolCallSummaryMessage": "assistant", "ToolCallRequestEvent": "assistant",
    "ToolCallExecutionEvent": "tool", "ThoughtEvent": "assistant", "CodeGenerationEvent": "assistant",
    "CodeExecutionEvent": "user", "MemoryQueryEvent": "user",
}  # fmt: skip
"""The role of each; "" where the source says who speaks."""


class AutoGen(ReadOnlyUnits):
    name = "autogen"
    label = "AutoGen AgentChat"
    tested_with = "documentation of autogen-agentchat 0.4 to 0.7"
    hints = tuple(_KINDS)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and string_of(value, "type") in _KINDS and "content" in value and "role" not in value

    def messages_in(self, value: Any) -> Sequence[Said]:
        role = _KINDS[value["type"]] or ("user" if string_of(value, "source") == _HUMAN else "assistant")
        return [(role, [*_thought(value), *_parts(value, role)])]


def _thought(value: dict[str, Any]) -> Iterator[Part]:
    if string_of(value, "thought"):
        yield Thinking(value["thought"])


def _parts(value: dict[str, Any], role: str) -> Iterator[Part]:
    content = value["content"]
    if isinstance(content, str):
        yield Thinking(content) if value["type"] == "ThoughtEvent" else Text(content)
    elif not isinstance(content, list):
        yield Text(as_text(content))
    elif role == "tool":
        for item in objects_of(value, "content"):
            is_error = item.get("is_error") is True
            yield ToolResult(string_of(item, "call_id"), string_of(item, "name"), as_text(item.get("content")), is_error)
    else:
        yield from map(_part, content)


def _part(item: Any) -> Part:
    """A text, a call, or a picture as its bytes or its address."""
    if isinstance(item, str):
        return Text(item)
    if "arguments" in item if isinstance(item, dict) else False:
        return ToolCall(string_of(item, "id"), string_of(item, "name"), as_text(item["arguments"]))
    if string_of(item, "data"):
        return Image(f"data:image/png;base64,{item['data']}")
    url = string_of(inner(item, "image_url"), "url")
    return Image(url) if url else unknown(item)
