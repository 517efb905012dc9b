"""Calls and results as elements of a text: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, `<tool_response>`.

Hermes fine-tuning data and chat templates of open models write them. A part is one element or the text between two;
white space between two elements is part of none and stays with the one before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chainviz.core.chain.messages import Binary, Image, Opaque, Part, Text, Thinking, ToolCall, ToolResult
from chainviz.core.dialects.patching import is_json, matched
from chainviz.core.documents.json import edit as json_edit

_ELEMENT = re.compile(r"<(tool_call|tool_response)>\n?(.*?)\n?</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    part: Part


def has_marks(text: str) -> bool:
    return _ELEMENT.search(text) is not None


def pieces(text: str) -> list[Piece]:
    """The parts of a text in order, each with its characters; together they are the text."""
    found: list[Piece] = []
    place = 0
    for element in _ELEMENT.finditer(text):
        part = _element_part(element[1], element[2])
        if part is None:
            continue
        _add_between(found, text[place : element.start()])
        found.append(Piece(element[0], part))
        place = element.end()
    _add_between(found, text[place:])
    return found or [Piece(text, Text(text))]


def _add_between(found: list[Piece], text: str) -> None:
    if text.strip() or (text and not found):
        found.append(Piece(text, Text(text)))
    elif text:
        found[-1] = Piece(found[-1].text + text, found[-1].part)


def parts(text: str) -> tuple[Part, ...]:
    return tuple(_at(piece.part, place) for place, piece in enumerate(pieces(text)))


def patched(text: str, new: Sequence[Part]) -> str:
    """The text with its parts replaced by `new`; parts that stay keep their spelling."""
    old = pieces(text)
    claims = matched(parts(text), new)
    return "".join(
        _written(part) if claim is None else _changed(old[claim], part)
        for part, claim in zip(new, claims, strict=True)
    )


def _changed(old: Piece, new: Part) -> str:
    """The piece with only what differs replaced."""
    if new == old.part:
        return old.text
    found = _ELEMENT.match(old.text)
    if found is None:
        return _written(new)
    inner = found[2]
    if isinstance(new, ToolResult):
        inner = new.content
    elif isinstance(new, ToolCall) and isinstance(old.part, ToolCall):
        inner = changed_call(inner, old.part, new)
    return old.text[: found.start(2)] + inner + old.text[found.end(2) :]


def changed_call(text: str, old: ToolCall, new: ToolCall) -> str:
    """The JSON text of a call with the leaves replaced that differ."""
    call = json_edit.load_object(text)
    if new.name != old.name:
        call.set("name", json_edit.spelled_like(new.name, text))
    if new.arguments != old.arguments:
        call.set("parameters" if "parameters" in call and "arguments" not in call else "arguments", _arguments(new))
    return str(call)


def written(new: Sequence[Part]) -> str:
    """The text of parts that no text holds yet; elements get lines of their own."""
    text = ""
    for before, part in zip((None, *new), new, strict=False):
        is_apart = before is not None and not isinstance(before, Text) and not isinstance(part, Text)
        text += ("\n" if is_apart else "") + _written(part)
    return text


def call_of(text: str) -> ToolCall | None:
    """The call that a JSON text `{"name": …, "arguments": …}` is; None where it is not a call."""
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters"))
    spelled = json_edit.raw_at(text, ("arguments",)) or json_edit.raw_at(text, ("parameters",)) or "{}"
    return ToolCall("", value["name"], arguments if isinstance(arguments, str) else spelled, origin=0)


def call_text(call: ToolCall) -> str:
    return f'{{"name": {json_edit.quote(call.name, ascii_only=False)}, "arguments": {_arguments(call)}}}'


def _arguments(call: ToolCall) -> str:
    """As JSON: a text that is none, or is a string itself, is quoted."""
    is_spelled = is_json(call.arguments) and not call.arguments.lstrip().startswith('"')
    return call.arguments if is_spelled else json_edit.quote(call.arguments, ascii_only=False)


def opaque(text: str) -> Opaque:
    return Opaque("value", text, origin=0)


def losses(new: Sequence[Part]) -> list[str]:
    lost = []
    if any(isinstance(part, Image | Binary) for part in new):
        lost.append("images and files are left out")
    if any(isinstance(part, Thinking) for part in new):
        lost.append("reasoning becomes a <think> element")
    if any(isinstance(part, Text | ToolCall) and part.reasoning for part in new):
        lost.append("reasoning that belongs to a text or a call is left out")
    if any(isinstance(part, Opaque) for part in new):
        lost.append("parts of unknown kinds are left out")
    if any(isinstance(part, ToolResult) and part.is_error for part in new):
        lost.append("a result cannot be marked as an error")
    return lost


def _element_part(kind: str, inner: str) -> Part | None:
    return ToolResult("", "", inner) if kind == "tool_response" else call_of(inner)


def _at(part: Part, place: int) -> Part:
    return replace(part, origin=place)


def _written(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Thinking):
        return f"<think>{part.content}</think>"
    if isinstance(part, ToolCall):
        return f"<tool_call>\n{call_text(part)}\n</tool_call>"
    if isinstance(part, ToolResult):
        return f"<tool_response>\n{part.content}\n</tool_response>"
    return ""
