"""AgentScope, and the frameworks by Microsoft: AutoGen and Semantic Kernel.

AgentScope has Anthropic's blocks with a speaker's name. Results are a message of the system, under the call's id. A session holds
pairs: a message, and the list of its marks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from chainviz.core.chain.messages import SYSTEM, TOOL, Fragment, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json.edit import dump, parse
from chainviz.core.documents.units import Pointer, Sample
from chainviz.core.formats.blocks import Blocks, Run, value_at
from chainviz.core.formats.contract import Style
from chainviz.core.formats.read_only import ReadOnlyUnits, Turn, as_text, inner, unknown
from chainviz.core.formats.vendors.anthropic.blocks import ResultForm, is_result, patched_content, read_blocks
from chainviz.core.formats.vendors.anthropic.messages import AnthropicBlocksFormat

_MEMBERS = frozenset(("id", "name", "role", "content", "metadata", "timestamp"))
_OTHERS = ("tool_calls", "tool_call_id", "parts")
"""Members of messages of other programs."""


class _Output(ResultForm):
    id_key = "id"
    name_key = "name"

    def content_at(self, item: dict[str, Any]) -> Pointer:
        return ("output",)


class AgentScope(AnthropicBlocksFormat):
    name = "agentscope"
    label = "AgentScope messages"
    tested_with = "source of AgentScope 1.0"
    template = ""
    form = _Output()
    blocks = Blocks(("content",), partial(read_blocks, form=form), partial(patched_content, form=form))
    words = {**AnthropicBlocksFormat.words, TOOL: "system"}

    def confidence(self, sample: Sample) -> float:
        return 0.98 if any(map(_is_own, sample.values)) else 0.0

    def runs(self, word: str, content: Any) -> list[Run]:
        are_results = word == SYSTEM and type(content) is list and content and all(map(is_result, content))
        return [(TOOL, None)] if are_results else super().runs(word, content)

    def head(self, message: Message, style: Style) -> dict[str, str]:
        """A message without the name of its speaker cannot be loaded."""
        head = super().head(message, style)
        name = string_of(value_at(parse(style.near), self.blocks_at[:-1]), "name") if style.near else ""
        return {"name": name or head["role"], **head}


class AgentScopeSession(AgentScope):
    name = "agentscope_session"
    label = "AgentScope session"
    blocks_at = (0, "content")
    blocks = replace(AgentScope.blocks, at=blocks_at)

    def is_message(self, value: object) -> bool:
        return isinstance(value, list) and len(value) == 2 and isinstance(value[1], list) and super().is_message(value[0])

    def confidence(self, sample: Sample) -> float:
        pairs = [value for value in sample.values if self.is_message(value)]
        return 0.98 if any(string_of(message, "name") for message, _ in pairs) else 0.0

    def _new(self, message: Message, style: Style) -> Fragment:
        made = super()._new(message, style)
        return replace(made, text=f"[{made.text}, []]")


def _is_own(value: Any) -> bool:
    """Return True for a message as `Msg.to_dict` writes it, or one with a result."""
    if not isinstance(value, dict) or not string_of(value, "name"):
        return False
    is_dumped = value.keys() >= _MEMBERS and value.keys().isdisjoint(_OTHERS)
    return is_dumped or any(is_result(item) and "output" in item for item in objects_of(value, "content"))


_HUMAN = "user"
_KINDS = {
    "SystemMessage": "system", "UserMessage": "user", "AssistantMessage": "assistant",
    "FunctionExecutionResultMessage": "tool", "TextMessage": "", "MultiModalMessage": "", "StopMessage": "",
    "HandoffMessage": "", "StructuredMessage": "", "ToolCallSummaryMessage": "assistant", "ToolCallRequestEvent": "assistant",
    "ToolCallExecutionEvent": "tool", "ThoughtEvent": "assistant", "CodeGenerationEvent": "assistant",
    "CodeExecutionEvent": "user", "MemoryQueryEvent": "user",
}  # fmt: skip
"""The role of each type; "" if `source` names the speaker."""


class AutoGen(ReadOnlyUnits):
    """AutoGen AgentChat: the messages and events of a run or of a team's thread, and the context of an agent in a saved state."""

    name = "autogen"
    label = "AutoGen AgentChat"
    tested_with = "documentation of autogen-agentchat 0.4 to 0.7"
    hints = tuple(_KINDS)

    def is_message(self, value: object) -> bool:
        return isinstance(value, dict) and string_of(value, "type") in _KINDS and "content" in value and "role" not in value

    def messages_in(self, value: Any) -> Sequence[Turn]:
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
        yield from map(_autogen_part, content)


def _autogen_part(item: Any) -> Part:
    """Read a text, a call, or an image as bytes or as an address."""
    if isinstance(item, str):
        return Text(item)
    if "arguments" in item if isinstance(item, dict) else False:
        return ToolCall(string_of(item, "id"), string_of(item, "name"), as_text(item["arguments"]))
    if string_of(item, "data"):
        return Image(f"data:image/png;base64,{item['data']}")
    url = string_of(inner(item, "image_url"), "url")
    return Image(url) if url else unknown(item)


class SemanticKernel(ReadOnlyUnits):
    """Chat histories of Semantic Kernel, as its Python version (`items`) and its .NET version (`Items`, `$type`) write them."""

    name = "semantic_kernel"
    label = "Semantic Kernel chat history"
    tested_with = "source of Semantic Kernel 1.x, Python and .NET"
    hints = ("content_type", "$type")

    def is_message(self, value: object) -> bool:
        if not isinstance(value, dict):
            return False
        is_python = bool(string_of(value, "role")) and any("content_type" in item for item in objects_of(value, "items"))
        is_net = bool(string_of(inner(value, "Role"), "Label")) and any("$type" in item for item in objects_of(value, "Items"))
        return is_python or is_net

    def messages_in(self, value: Any) -> Sequence[Turn]:
        if "Items" in value:
            return [(value["Role"]["Label"], [_net_part(item) for item in objects_of(value, "Items")])]
        return [(value["role"], [_kernel_part(item) for item in objects_of(value, "items")])]


def _kernel_part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "content_type")
    if kind == "text":
        return Text(string_of(item, "text"))
    if kind == "reasoning":
        return Thinking(string_of(item, "text"))
    if kind == "image" and (string_of(item, "data_uri") or string_of(item, "uri")):
        return Image(string_of(item, "data_uri") or string_of(item, "uri"))
    if kind == "function_call":
        return ToolCall(string_of(item, "id"), _name(item), as_text(item.get("arguments")))
    if kind == "function_result":
        return ToolResult(string_of(item, "call_id") or string_of(item, "id"), _name(item), as_text(item.get("result")))
    return unknown({"type": kind, **item})


def _name(item: dict[str, Any]) -> str:
    names = [string_of(item, "plugin_name"), string_of(item, "function_name")]
    return string_of(item, "name") or "-".join(filter(None, names))


def _net_part(item: dict[str, Any]) -> Part:
    kind = string_of(item, "$type")
    name = "-".join(filter(None, (string_of(item, "PluginName"), string_of(item, "FunctionName"))))
    if kind == "TextContent":
        return Text(string_of(item, "Text"))
    if kind == "FunctionCallContent":
        return ToolCall(string_of(item, "Id"), name, dump(item.get("Arguments") or {}))
    if kind == "FunctionResultContent":
        return ToolResult(string_of(item, "CallId"), name, as_text(item.get("Result")))
    url = string_of(item, "DataUri") or string_of(item, "Uri")
    return Image(url) if kind == "ImageContent" and url else unknown({"type": kind, **item})
