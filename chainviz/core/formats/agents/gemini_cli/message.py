"""Locate the parts of a Gemini CLI message, and write new ones.

A message of the model has thoughts, a content, and calls that include their results. After a compression its content
has all parts in the form of the API, calls too. A user's message has such a content, with responses of tools among its
parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import AI, TOOL, Part, Role, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.leaf import Leaf, Located, as_json
from chainviz.core.dialects.values import Speller, objects_of, string_of
from chainviz.core.documents.json.edit import dump, member_at, raw_at
from chainviz.core.documents.units import Pointer
from chainviz.core.formats.blocks import Content, value_at
from chainviz.core.formats.vendors.google.read import is_response, member, read_media, read_parts, read_response, response_key
from chainviz.core.formats.vendors.google.write import PartWriter


def has_all_parts(value: Any) -> bool:
    """Return True if the content of a model's message also contains its thoughts and calls
    (convertSessionToClientHistory in sessionUtils.ts)."""
    return any(type(item) is dict and ("functionCall" in item or item.get("thought")) for item in objects_of(value, "content"))


def calls_with_results(value: Any) -> list[int]:
    """Return the indexes of the calls of a message that contain their results."""
    calls = value.get("toolCalls")
    return [place for place, call in enumerate(calls if type(calls) is list else ()) if _holds_result(call)]


def response_ids(value: Any) -> list[str] | None:
    """Return the ids of the responses in a user's message; None if it has none, or other parts too."""
    content = value.get("content")
    if type(content) is not list or not content or not all(is_response(item) for item in content):
        return None
    return [string_of(member(item, "functionResponse"), "id") for item in content]


def located_message(value: Any, text: str, at: Pointer, role: Role) -> list[Located]:
    """Locate the parts of the message at `at` of a record that belong to a role."""
    if value.get("type") == "gemini":
        if role == TOOL:
            return [_result(value["toolCalls"][place], text, (*at, "toolCalls", place)) for place in calls_with_results(value)]
        return [*_own_parts(value, text, at)]
    found = _content(value.get("content"), text, (*at, "content"), role)
    return [each for each in found if isinstance(each.part, ToolResult) == (role == TOOL)]


def element(part: Part, value: Any, speller: Speller) -> list[str]:
    """Return a new part of a message as an element of its list."""
    if value.get("type") != "gemini" or (has_all_parts(value) and not isinstance(part, ToolResult)):
        return PartWriter("", speller).part(part)
    if isinstance(part, Thinking):
        return [speller.object({"subject": '""', "description": speller.quote(part.content)})]
    if isinstance(part, ToolCall):
        members = {"id": speller.quote(part.id), "name": speller.quote(part.name)}
        return [speller.object({**members, "args": as_json(part.arguments, "", speller)})]
    if isinstance(part, ToolResult):
        members = {"id": speller.quote(part.call_id), "name": speller.quote(part.name), "args": "{}"}
        status = {"status": '"error"' if part.is_error else '"success"'}
        return [speller.object({**members, "result": speller.list(PartWriter("", speller).part(part)), **status})]
    return PartWriter("", speller).part(part)


def member_for(part: Part, value: Any) -> str:
    """Return the member for parts of this kind."""
    if value.get("type") == "gemini" and (isinstance(part, ToolResult) or not has_all_parts(value)):
        return "thoughts" if isinstance(part, Thinking) else "toolCalls" if isinstance(part, ToolCall | ToolResult) else "content"
    return "content"


def _holds_result(call: Any) -> bool:
    return type(call) is dict and bool(call.get("result"))


def _own_parts(value: Any, text: str, at: Pointer) -> Iterator[Located]:
    has_all = has_all_parts(value)
    thoughts = value.get("thoughts")
    for place, thought in enumerate(thoughts if type(thoughts) is list and not has_all else ()):
        words = filter(None, (string_of(thought, "subject"), string_of(thought, "description")))
        yield Located(Thinking("\n".join(words)), (*at, "thoughts", place))
    yield from _content(value.get("content"), text, (*at, "content"), AI)
    calls = value.get("toolCalls")
    for place, call in enumerate(calls if type(calls) is list and not has_all else ()):
        if type(call) is dict:
            yield _call(call, text, (*at, "toolCalls", place))


def _content(content: Any, text: str, at: Pointer, role: Role) -> list[Located]:
    """Locate a text, a part, or a list of both; an empty text is no part."""
    if type(content) is str:
        return [Located(Text(content), at, (Leaf("text", at),))] if content else []
    is_list = type(content) is list
    items = content if is_list else [] if content is None else [content]
    found = []
    for place, item in enumerate(items):
        here = (*at, place) if is_list else at
        if type(item) is str:
            found.append(Located(Text(item), here, (Leaf("text", here),)))
            continue
        part = _with_id(read_parts(Content(items, text, at, (place,)), role)[0] if is_list else _single(item, text, at, role), item)
        is_plain = isinstance(part, Text) and part.reasoning is None
        found.append(Located(part, here, (Leaf("text", (*here, "text")),) if is_plain else ()))
    return found


def _with_id(part: Part, item: Any) -> Part:
    """Return a call or a result with the id that joins them in the session."""
    if isinstance(part, ToolResult):
        return replace(part, call_id=string_of(member(item, "functionResponse"), "id") or part.call_id)
    if isinstance(part, ToolCall):
        return replace(part, id=string_of(member(item, "functionCall"), "id") or part.id)
    return part


def _single(item: Any, text: str, at: Pointer, role: Role) -> Part:
    """Read a part that is the whole content."""
    raw = raw_at(text, at) or "null"
    return read_parts(Content([item], f"[{raw}]"), role)[0]


def _call(call: dict[str, Any], text: str, place: Pointer) -> Located:
    arguments = "" if call.get("args") is None else member_at(text, place, "args")
    part = ToolCall(string_of(call, "id"), string_of(call, "name"), arguments)
    leaves = (Leaf("id", (*place, "id")), Leaf("name", (*place, "name")), Leaf("arguments", (*place, "args"), as_json))
    return Located(part, place, leaves)


def _result(call: dict[str, Any], text: str, place: Pointer) -> Located:
    """Locate the result that the model received, and its copy for the screen, which changes with it."""
    told_as = call["result"]
    items = told_as if type(told_as) is list else []
    inner = [member(item, "functionResponse") for item in items if is_response(item)]
    at = (*place, "result", 0, "functionResponse")
    told = [read_response(each, text, at, "", -1) for each in inner[:1]] if len(items) == 1 else []
    content = told[0].content if told else _words(told_as, inner)
    media = (*(told[0].media if told else ()), *(found for item in items if (found := read_media(item)) is not None))
    result = ToolResult(string_of(call, "id"), string_of(call, "name"), content, call.get("status") == "error", media)
    key = response_key(value_at(inner[0], ("response",))) if told else ""
    if not key or type(value_at(inner[0], ("response", key))) is not str:
        return Located(result, place)
    shown = (Leaf("content", (*place, "resultDisplay")),) if "resultDisplay" in call else ()
    return Located(result, place, (Leaf("content", (*at, "response", key)), *shown))


def _words(found: Any, inner: list[Any]) -> str:
    """Return the outputs of several responses, else the text of the result."""
    outputs = [value_at(each, ("response",)) for each in inner]
    texts = [string_of(output, "output") or string_of(output, "error") or dump(output) for output in outputs]
    if not texts and type(found) is list:
        texts = [item if type(item) is str else string_of(item, "text") for item in found]
    return "\n".join(texts) if any(texts) else found if type(found) is str else dump(found)
