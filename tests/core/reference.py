"""What the reference accepts, and how it renames ids and escapes arguments."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from chainviz.core.chain.arguments import sanitize
from chainviz.core.chain.messages import AI, TOOL, Message, ToolCall, ToolResult
from chainviz.core.chain.problems import strict_error
from chainviz.core.chain.tool_ids import Template
from chainviz.core.chain.tree import ChainAST


def is_strict(tree: ChainAST[Message]) -> bool:
    return strict_error(tree) is None


def normalized_by_reference(messages: Iterable[Message], template: Template, source: random.Random) -> tuple[Message, ...]:
    """Rename tool-call ids as the reference does: with one map for the whole chain, and without checking for collisions."""
    renamed: dict[str, str] = {}
    result: list[Message] = []
    answering = False
    for message in messages:
        if message.role == AI:
            answering = bool(message.calls)
            message = _renamed_calls(message, template, source, renamed)
        elif message.role == TOOL and answering:
            message = _mapped_results(message, renamed)
        result.append(message)
    return tuple(result)


def _renamed_calls(message: Message, template: Template, source: random.Random, renamed: dict[str, str]) -> Message:
    parts = list(message.parts)
    for call in message.calls:
        if not template.accepts(call.id, call.name):
            renamed[call.id] = template.generate(source, call.name)
            part = parts[call.part]
            assert isinstance(part, ToolCall)
            parts[call.part] = replace(part, id=renamed[call.id])
    return replace(message, parts=tuple(parts))


def _mapped_results(message: Message, renamed: dict[str, str]) -> Message:
    parts = tuple(
        replace(part, call_id=renamed.get(part.call_id, part.call_id)) if isinstance(part, ToolResult) else part for part in message.parts
    )
    return replace(message, parts=parts)


def sanitized_by_reference(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Invalid JSON arguments: control characters escaped, else `{}`; the old text is lost."""
    return tuple(_sanitized(message) if message.calls else message for message in messages)


def _sanitized(message: Message) -> Message:
    parts = tuple(
        replace(part, arguments=sanitize(part.arguments)) if isinstance(part, ToolCall) and part.has_function else part
        for part in message.parts
    )
    return replace(message, parts=parts)
