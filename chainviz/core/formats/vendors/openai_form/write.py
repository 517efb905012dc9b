"""Write new messages of OpenAI's chat API in the style of their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chainviz.core.chain.messages import (
    AI,
    FREE_FORM,
    HUMAN,
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
)
from chainviz.core.dialects.content import ResultElements
from chainviz.core.dialects.values import Speller, data_url, file_name, image_of, is_json, reasoning_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.formats.vendors.openai_form.read import (
    REASONING_KEYS,
    ROLES,
    THINKING,
    WORDS,
    read_element,
    result_id_key,
    result_name_key,
    set_text,
)


@dataclass(frozen=True, slots=True)
class Accent:
    """How a format with OpenAI's chat messages differs from OpenAI's own."""

    reasoning: str = "reasoning_content"
    """The member with an assistant's reasoning; "" if reasoning is a part of the content."""
    thinking: str = "thinking"
    """The type of a content part with reasoning."""
    files: bool = False
    """A file is a part of the type `file`. Otherwise it is a data: URL like an image."""
    result_names: bool = True
    """A new tool message names its tool. Otherwise it does so only if its neighbour does."""


OPENAI = Accent()
OWN_KINDS = frozenset(("input_audio", "file", "refusal", "content"))
"""Kinds of opaque parts that belong in the content of a message."""


def message_text(message: Message, near: str, speller: Speller, accent: Accent = OPENAI) -> str:
    """Return the JSON of a new message. It imitates `near`, the text of a message of its role."""
    model = _value(near)
    if message.role == TOOL or (message.role == HUMAN and any(isinstance(part, ToolResult) for part in message.parts)):
        return _result_text(message, model, speller, accent)
    known = ROLES.get(message.label) == message.role
    members = {"role": speller.quote(message.label if known else WORDS.get(message.role, message.role))}
    content: list[Part] = [part for part in message.parts if not isinstance(part, ToolCall | ToolResult | Thinking)]
    reasoning = [item for item in reasoning_of(message) if item.content] if message.role == AI else []
    if not accent.reasoning:
        content = [*[Thinking(item.content, item.signature) for item in reasoning], *content]
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    as_list = isinstance(model.get("content"), list)
    said = [*content, *[Text(part.content) for part in results]]
    members["content"] = content_text(said, speller, accent, as_list=as_list)
    if members["content"] == '""' and message.role == AI and (calls or not content):
        members["content"] = "null"
    if reasoning and accent.reasoning:
        key = next((key for key in REASONING_KEYS if key in model), accent.reasoning)
        members[key] = speller.quote("\n\n".join(item.content for item in reasoning))
    if calls:
        shape = model["tool_calls"][0] if isinstance(model.get("tool_calls"), list) and model["tool_calls"] else None
        members["tool_calls"] = speller.list([call_text(part, shape, speller) for part in calls])
    return speller.unit(members)


def _value(near: str) -> dict[str, Any]:
    value = json_edit.parse(near) if near else {}
    return value if isinstance(value, dict) else {}


def _result_text(message: Message, model: dict[str, Any], speller: Speller, accent: Accent) -> str:
    """Return the JSON of a tool message. It contains one result: the first, with the text of all."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    first = results[0] if results else ToolResult("", "", "")
    texts = [part.content for part in results] + [part.text for part in message.parts if isinstance(part, Text)]
    key = result_id_key(model) or "tool_call_id"
    call_id = speller.quote(first.call_id)
    members = {"role": '"tool"', key: speller.list([call_id]) if key == "tool_call_ids" else call_id}
    if message.role == HUMAN:
        members["requestor"] = '"user"'
    # in a document whose results have no names, a new result has none either
    is_named = bool(result_name_key(model)) if result_id_key(model) else accent.result_names
    if first.name and is_named:
        members["name"] = speller.quote(first.name)
    media = [part for result in results for part in result.media]
    if media or isinstance(model.get("content"), list):
        members["content"] = content_text([Text("\n".join(texts)), *media], speller, as_list=True)
    else:
        members["content"] = speller.quote("\n".join(texts))
    return speller.unit(members)


def content_text(parts: Sequence[Part], speller: Speller, accent: Accent = OPENAI, *, as_list: bool = False) -> str:
    """Return the JSON of the content: a string if there is only one text, otherwise a list."""
    if not parts:
        return '""'
    if len(parts) == 1 and isinstance(parts[0], Text) and not as_list:
        return speller.quote(parts[0].text)
    items = [content_item(part, speller, accent) for part in parts]
    return speller.list([item for item in items if item is not None]) if any(items) else '""'


def content_item(part: Part, speller: Speller, accent: Accent = OPENAI) -> str | None:
    """Return a part as an element of the content; None if it does not belong there."""
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": speller.quote(part.text)})
    if accent.files and isinstance(part, Binary) and not part.mime.startswith("image/"):
        file = {"filename": file_name(part.mime), "file_data": data_url(part.mime, part.content)}
        return speller.object({"type": '"file"', "file": speller.object({key: speller.quote(each) for key, each in file.items()})})
    if isinstance(part, Image | Binary):
        image = image_of(part)
        inner = {"url": speller.quote(image.url)}
        if image.detail:
            inner["detail"] = speller.quote(image.detail)
        return speller.object({"type": '"image_url"', "image_url": speller.object(inner)})
    if isinstance(part, Thinking):
        return speller.object(_thinking(part, accent.thinking, speller))
    if isinstance(part, Opaque) and part.kind in OWN_KINDS and is_json(part.text):
        return part.text
    return None


RESULT_ELEMENTS = ResultElements(
    read_element, lambda text, speller: speller.object({"type": '"text"', "text": speller.quote(text)}), content_item, set_text
)


def _thinking(part: Thinking, kind: str, speller: Speller) -> dict[str, str]:
    """Return the members of a content part with reasoning: a list of chunks for the type `thinking`, a text for `think`."""
    text = speller.quote(part.content)
    inner = text if kind == "think" else speller.list([speller.object({"type": '"text"', "text": text})])
    members = {"type": speller.quote(kind), kind: inner}
    return members | ({THINKING[kind]: speller.quote(part.signature)} if part.signature else {})


def call_text(part: ToolCall, shape: Any, speller: Speller) -> str:
    """Return the JSON of a tool call. It imitates `shape`, a neighbouring call."""
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
    if part.type == FREE_FORM:
        free = {"name": speller.quote(part.name), "input": speller.quote(part.arguments)}
        return speller.object({**members, "custom": speller.object(free)})
    inner = {"name": speller.quote(part.name), "arguments": arguments}
    if isinstance(model.get("function"), dict) and isinstance(model["function"].get("arguments"), dict) and is_json(part.arguments):
        inner["arguments"] = part.arguments
    return speller.object({**members, "function": speller.object(inner)})
