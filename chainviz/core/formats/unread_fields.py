"""Finds fields that carry tools or instructions and that the format of a chain does not read: they are kept in the file, and no
message shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from chainviz.core.chain.messages import Message, Opaque, ToolCall, ToolResult, text_of
from chainviz.core.chain.unread import Unread
from chainviz.core.documents.source import Source
from chainviz.core.documents.units import FoundList
from chainviz.core.errors import DocumentError
from chainviz.core.formats.contract import Format
from chainviz.core.formats.reader import read_chain

INSTRUCTIONS = frozenset((
    "system", "systemInstruction", "system_instruction", "system_prompt", "systemPrompt", "system_message", "instructions",
    "developer_instructions", "preamble",
))  # fmt: skip
TOOLS = frozenset((
    "tool_calls", "toolCalls", "toolInvocations", "tool_invocations", "tool_uses", "function_call", "function_calls",
    "functionCalls", "tool_results", "toolResults", "tool_outputs", "tool_responses",
))  # fmt: skip
_NOTHING: tuple[Any, ...] = (None, "", [], {})
READ = 12
"""Messages that tell what the format reads."""
BEGINNING = 60
"""Characters by which an instruction is recognised in a message."""


def unread_fields(source: Source, found: FoundList, format: Format) -> Iterator[Unread]:
    """Yields the fields of a list that carry instructions or tools which its format does not read."""
    beside = {key: value for key, value in found.sample.beside.items() if key in INSTRUCTIONS and value not in _NOTHING}
    inside = {key for value in found.sample.values if isinstance(value, dict) for key in value if key in TOOLS and value[key]}
    messages = _first(source, found, format) if beside or inside else []
    said = "\n".join(map(text_of, messages))
    for key, value in beside.items():
        if isinstance(value, int | float) or _text(value)[:BEGINNING] not in said:
            yield Unread("instructions", key, 1)
    if inside and not any(_has_tools(message) for message in messages):
        yield from (Unread("tools", key, 1) for key in sorted(inside))


def _first(source: Source, found: FoundList, format: Format) -> Sequence[Message]:
    messages: list[Message] = []
    with suppress(DocumentError):  # reading the whole chain raises it again
        messages += islice(read_chain(source, found, format), READ)
    return messages


def _text(value: Any) -> str:
    """The first text of an instruction: a string, or a list or object of parts."""
    if isinstance(value, str):
        return value.strip()
    inner = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return next((text for each in inner if (text := _text(each)) and len(text) > len("input_text")), "")


def _has_tools(message: Message) -> bool:
    return any(isinstance(part, ToolCall | ToolResult | Opaque) for part in message.parts)
