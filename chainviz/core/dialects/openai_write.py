"""The message shape of OpenAI's chat API: new messages, in the accent of their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    TOOL,
    Binary,
    Image,
    Message,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)  # fmt: skip
from chainviz.core.dialects.openai_read import ROLES, WORDS, result_id_key
from chainviz.core.dialects.patching import Speller, image_of, is_json, reasoning_of
from chainviz.core.documents import json_edit

OWN_KINDS = frozenset(("input_audio", "file", "refusal", "content"))
"""Kinds of opaque content parts that are at home here."""


def message_text(message: Message, near: str, speller: Speller) -> str:
    """A message made anew; `near` is the text of one of its role, whose shape it takes."""
    model = _value(near)
    if message.role == TOOL:
        return _result_text(message, model, speller)
    known = ROLES.get(message.label) == message.role
    members = {"role": speller.quote(message.label if known else WORDS.get(message.role, message.role))}
    content = [part for part in message.parts if not isinstance(part, ToolCall | ToolResult | Thinking)]
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    as_list = isinstance(model.get("content"), list)
    members["content"] = content_text([*content, *[Text(part.content) for part in results]], speller, as_list=as_list)
    if members["content"] == '""' and message.role == AI:
        members["content"] = "null"
    reasoning = [item.content for item in reasoning_of(message) if item.content]
    if reasoning and message.role == AI:
        key = "reasoning" if "reasoning" in model and "reasoning_content" not in model else "reasoning_content"
        members[key] = speller.quote("\n\n".join(reasoning))
    if calls:
        shape = model["tool_calls"][0] if isinstance(model.get("tool_calls"), list) and model["tool_calls"] else None
        members["tool_calls"] = speller.list([call_text(part, shape, speller) for part in calls])
    return speller.unit(members)


def _value(near: str) -> dict[str, Any]:
    value = json_edit.parse(near) if near else {}
    return value if isinstance(value, dict) else {}


def _result_text(message: Message, model: dict[str, Any], speller: Speller) -> str:
    """Chat tool messages hold one result: the first, and the text of all."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    first = results[0] if results else ToolResult("", "", "")
    texts = [part.content for part in results] + [part.text for part in message.parts if isinstance(part, Text)]
    key = result_id_key(model) or "tool_call_id"
    call_id = speller.quote(first.call_id)
    members = {"role": '"tool"', key: speller.list([call_id]) if key == "tool_call_ids" else call_id}
    if first.name:
        members["name"] = speller.quote(first.name)
    media = [part for result in results for part in result.media]
    if media or isinstance(model.get("content"), list):
        members["content"] = content_text([Text("\n".join(texts)), *media], speller, as_list=True)
    else:
        members["content"] = speller.quote("\n".join(texts))
    return speller.unit(members)


def content_text(parts: Sequence[Part], speller: Speller, *, as_list: bool = False) -> str:
    """The content member: a string where one text is all there is."""
    if not parts:
        return '""'
    if len(parts) == 1 and isinstance(parts[0], Text) and not as_list:
        return speller.quote(parts[0].text)
    items = [content_item(part, speller) for part in parts]
    return speller.list([item for item in items if item is not None]) if any(items) else '""'


def content_item(part: Part, speller: Speller) -> str | None:
    """One content element; None for what has no place here."""
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": speller.quote(part.text)})
    if isinstance(part, Image | Binary):
        image = image_of(part)
        inner = {"url": speller.quote(image.url)}
        if image.detail:
            inner["detail"] = speller.quote(image.detail)
        return speller.object({"type": '"image_url"', "image_url": speller.object(inner)})
    if isinstance(part, Opaque) and part.kind in OWN_KINDS and is_json(part.text):
        return part.text
    return None


def call_text(part: ToolCall, shape: Any, speller: Speller) -> str:
    """A tool call; `shape` is a call of the neighbourhood whose form it takes."""
    arguments = speller.quote(part.arguments)
    model = shape if isinstance(shape, dict) else {}
    members = {"id": speller.quote(part.id)}
    if isinstance(model.get("arguments"), dict) and is_json(part.arguments):
        arguments = part.arguments
    if "arguments" in model and "function" not in model:
        return speller.object({**members, "name": speller.quote(part.name), "arguments": arguments})
    members["type"] = speller.quote(part.type)
    if isinstance(model.get("function"), str):
        return speller.object({**members, "function": speller.quote(part.name), "arguments": arguments})
    if not part.has_function:
        return speller.object(members)
    inner = {"name": speller.quote(part.name), "arguments": arguments}
    if isinstance(model.get("function"), dict) and isinstance(model["function"].get("arguments"), dict) and is_json(part.arguments):
        inner["arguments"] = part.arguments
    return speller.object({**members, "function": speller.object(inner)})
