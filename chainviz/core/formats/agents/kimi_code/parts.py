"""Where the parts of a Kimi Code event lie, and how new ones are written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import TOOL, Image, Opaque, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.blocks.block_units import value_at
from chainviz.core.dialects.leaves import Leaf, Located, as_either, as_flag, as_json
from chainviz.core.dialects.media import as_url
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.patching import Speller
from chainviz.core.dialects.result_content import ResultElements, content_leaves, read_result_content
from chainviz.core.documents.json.edit import dump, raw_at
from chainviz.core.documents.units import Pointer

MESSAGE: Pointer = ("message", "content")


def located_summary(value: dict[str, Any]) -> Iterator[Located]:
    """What the model is told of a compaction."""
    places: tuple[Pointer, ...] = (("contextSummary",), ("summary",), ("summary", "content"))
    place = next((place for place in places if type(value_at(value, place)) is str and value_at(value, place)), ())
    if place:
        yield Located(Text(value_at(value, place)), place, (Leaf("text", place),))


def located_event(event: dict[str, Any], text: str) -> list[Located]:
    kind = event.get("type")
    if kind == "content.part":
        return [_content_part(event.get("part"), text, ("event", "part"))]
    if kind == "tool.call":
        arguments = "" if event.get("args") is None else raw_at(text, ("event", "args")) or ""
        part = ToolCall(string_of(event, "toolCallId"), string_of(event, "name"), arguments)
        leaves = (Leaf("id", ("event", "toolCallId")), Leaf("name", ("event", "name")), Leaf("arguments", ("event", "args"), as_json))
        return [Located(part, ("event",), leaves)]
    if kind != "tool.result":
        return []
    at: Pointer = ("event", "result", "output")
    content, media = read_result_content(value_at(event, at[1:]), text, at, _shown)
    is_error = value_at(event, ("result", "isError")) is True
    result = ToolResult(string_of(event, "toolCallId"), "", content, is_error, media)
    flag = Leaf("is_error", ("event", "result", "isError"), as_flag)
    return [Located(result, (), (Leaf("call_id", ("event", "toolCallId")), flag, *content_leaves(at, _ELEMENTS)))]


def located_message(message: dict[str, Any], text: str, role: Role) -> list[Located]:
    content = message.get("content")
    if role == TOOL:
        found, media = read_result_content(content, text, MESSAGE, _shown)
        part = ToolResult(string_of(message, "toolCallId"), "", found, message.get("isError") is True, media)
        leaves = (Leaf("call_id", ("message", "toolCallId")), *content_leaves(MESSAGE, _ELEMENTS))
        return [Located(part, (), leaves)]
    parts = [Located(Text(content), MESSAGE, (Leaf("text", MESSAGE),))] if type(content) is str else []
    parts += [_content_part(item, text, (*MESSAGE, place)) for place, item in enumerate(content if type(content) is list else ())]
    calls = message["toolCalls"] if type(message.get("toolCalls")) is list else []
    return [*parts, *(_call(call, text, ("message", "toolCalls", place)) for place, call in enumerate(calls))]


def _call(call: Any, text: str, at: Pointer) -> Located:
    if type(call) is not dict:
        return Located(Opaque("tool call", raw_at(text, at) or ""), at)
    arguments = call.get("arguments")
    raw = arguments if type(arguments) is str else "" if arguments is None else raw_at(text, (*at, "arguments")) or ""
    leaves = (Leaf("id", (*at, "id")), Leaf("name", (*at, "name")), Leaf("arguments", (*at, "arguments"), as_either))
    return Located(ToolCall(string_of(call, "id"), string_of(call, "name"), raw), at, leaves)


def _content_part(item: Any, text: str, at: Pointer) -> Located:
    kind = string_of(item, "type")
    if kind == "text" and type(item.get("text")) is str:
        return Located(Text(item["text"]), at, (Leaf("text", (*at, "text")),))
    if kind == "think":
        key = "think" if "think" in item else "text"
        return Located(Thinking(string_of(item, key)), at, (Leaf("content", (*at, key)),))
    url = value_at(item, ("imageUrl" if kind == "imageUrl" else "image_url", "url")) if type(item) is dict else None
    if type(url) is str:
        return Located(Image(url), at, (Leaf("url", (*at, kind, "url")),))
    return Located(Opaque(kind or "part", raw_at(text, at) or ""), at)


def _shown(item: dict[str, Any]) -> str | Image | None:
    part = _content_part(item, dump(item), ()).part
    return part.text if isinstance(part, Text) else part if isinstance(part, Image) else None


def element(part: Part, speller: Speller) -> str | None:
    if isinstance(part, Text):
        return speller.object({"type": '"text"', "text": speller.quote(part.text)})
    if isinstance(part, Thinking):
        return speller.object({"type": '"think"', "think": speller.quote(part.content)})
    if isinstance(part, Image):
        return speller.object({"type": '"image_url"', "image_url": speller.object({"url": speller.quote(as_url(part))})})
    return None


_ELEMENTS = ResultElements(_shown, lambda text, speller: element(Text(text), speller) or '""', element)
