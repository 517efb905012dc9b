"""Blocks that only Anthropic's API has: tools that the API runs itself, and `cache_control`, of which it takes four in a
request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from chainviz.core.chain.messages import SLOT, Message, Opaque, ToolCall
from chainviz.core.dialects.values import objects_of, string_of
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import value_of
from chainviz.core.documents.units import Pointer

_CALLS = frozenset(("server_tool_use", "mcp_tool_use"))
_RESULT = "_tool_result"


def lone_results(message: Message) -> Iterator[tuple[int, Opaque]]:
    """Yield results without an earlier call in the message, with their place. Consecutive AI messages are one turn to
    the API, so a message that directly follows another one is not checked."""
    if Opaque not in map(type, message.parts):
        return
    called = {call.id for _, call in misplaced_server_calls(message)}
    for i, part in enumerate(message.parts):
        if not isinstance(part, Opaque):
            continue
        if part.kind in _CALLS:
            called.add(_word(part, "id"))
        elif part.kind.endswith(_RESULT) and _word(part, "tool_use_id") not in called:
            yield i, part


def lone_calls(message: Message) -> Iterator[tuple[int, Opaque]]:
    """Yield calls without a later result in the message, with their place."""
    if Opaque not in map(type, message.parts):
        return iter(())
    answered: set[str] = set()
    found: list[tuple[int, Opaque]] = []
    for i, part in reversed(list(enumerate(message.parts))):
        if isinstance(part, Opaque) and part.kind.endswith(_RESULT):
            answered.add(_word(part, "tool_use_id"))
        elif isinstance(part, Opaque) and part.kind in _CALLS and _word(part, "id") not in answered:
            found.append((i, part))
    return reversed(found)


SERVER_ID_FORM = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
SERVER_CALL = "server_tool_use"


def odd_server_ids(message: Message) -> Iterator[tuple[str, list[tuple[int, Opaque]]]]:
    """Yield each id of a call of the API's own tools that the API refuses, with the places and blocks of the call and its result."""
    blocks = [(i, part) for i, part in enumerate(message.parts) if isinstance(part, Opaque)]
    for _, part in blocks:
        id = _word(part, "id") if part.kind == SERVER_CALL else ""
        if id and not SERVER_ID_FORM.fullmatch(id):
            yield id, [each for each in blocks if id in (_word(each[1], "id"), _word(each[1], "tool_use_id"))]


def with_server_id(part: Opaque, id: str) -> Opaque:
    """Return the block with its id in the API's form."""
    item = json_edit.load_object(part.text)
    key = "id" if part.kind == SERVER_CALL else "tool_use_id"
    item.set(key, json_edit.dump(f"srvtoolu_{re.sub('[^a-zA-Z0-9_]', '_', id)}", False))
    return replace(part, text=str(item))


def misplaced_server_calls(message: Message) -> Iterator[tuple[int, ToolCall]]:
    """Yield calls of the API's own tools that are written as calls of the program's tools, although the message has their results."""
    results = {_word(part, "tool_use_id") for part in message.parts if isinstance(part, Opaque) and part.kind.endswith(_RESULT)}
    for i, part in enumerate(message.parts):
        if isinstance(part, ToolCall) and part.id in results and SERVER_ID_FORM.fullmatch(part.id):
            yield i, part


def as_server_call(call: ToolCall) -> Opaque:
    id, name = (json_edit.dump(text, False) for text in (call.id, call.name))
    return Opaque(SERVER_CALL, f'{{"type": "{SERVER_CALL}", "id": {id}, "name": {name}, "input": {call.arguments or "{}"}}}')


def is_programmatic(message: Message) -> bool:
    """Return True if the message calls tools from code that the API runs: the block of such a call names its caller."""
    return bool(message.calls) and any(
        '"caller"' in fragment.text and any(map(_is_called_by_code, _blocks_of(fragment.text))) for fragment in message.source
    )


def _blocks_of(text: str) -> list[dict[str, Any]]:
    return objects_of(json_edit.parse(text), "content")


def _is_called_by_code(block: dict[str, Any]) -> bool:
    return block.get("type") == "tool_use" and string_of(block.get("caller"), "type", "direct") != "direct"


def _word(part: Opaque, key: str) -> str:
    return string_of(json_edit.parse(part.text), key)


MOST = 4
KEY = "cache_control"


def marked_blocks(message: Message) -> Iterator[tuple[int, Pointer]]:
    """Index of the fragment, and where in its text each block is that has one."""
    for place, fragment in enumerate(message.source):
        if KEY not in fragment.text:
            continue
        try:
            value = value_of(fragment)
        except (ValueError, RecursionError):
            continue  # a source that is not JSON
        at: Pointer = () if fragment.ordinal == SLOT else ("content",)
        content = value.get("content") if isinstance(value, dict) else value
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if fragment.blocks is None or index in fragment.blocks:
                yield from ((place, each) for each in _marked_in(block, (*at, index)))


def _marked_in(block: Any, at: Pointer) -> Iterator[Pointer]:
    """Yield the block, and the blocks inside a result."""
    if not isinstance(block, dict):
        return
    inside = block.get("content") if block.get("type") == "tool_result" else ()
    for index, each in enumerate(inside if isinstance(inside, list) else ()):
        yield from _marked_in(each, (*at, "content", index))
    if isinstance(block.get(KEY), dict):
        yield at


def marked_beside(texts: Sequence[str]) -> int:
    """Count the cache marks on tools, and on the request itself, in the texts around the messages of its document."""
    if not any(KEY in text for text in texts):
        return 0
    try:
        return _marked_around(json.loads("".join(texts)))
    except (ValueError, RecursionError):
        return 0  # lines, or a list that begins in the middle of a string


def _marked_around(value: Any) -> int:
    """Count neither the marks of the system, which belong to a message, nor properties of this name in a tool's schema."""
    if isinstance(value, list):
        return sum(map(_marked_around, value))
    if not isinstance(value, dict):
        return 0
    mark = value.get(KEY)
    inside = (each for key, each in value.items() if key not in ("system", "input_schema", KEY))
    return (isinstance(mark, dict) and isinstance(mark.get("type"), str)) + sum(map(_marked_around, inside))
