"""The calls of a LangChain message, which it may hold three times: parsed, as the provider's raw ones, as content blocks.

Each is one part; a change is written into every copy, in the spelling of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chainviz.core.chain.messages import ToolCall
from chainviz.core.dialects.leaves import Leaf, Located, as_either, as_json, as_string
from chainviz.core.dialects.members import string_of
from chainviz.core.dialects.patching import Speller
from chainviz.core.documents.json.edit import raw_at
from chainviz.core.documents.units import Pointer

BLOCKS = {"tool_use": "input", "tool_call": "args"}
"""Content blocks that are calls, and where their arguments lie."""


def block_call(item: dict[str, Any], text: str, place: Pointer) -> Located:
    key = BLOCKS[item["type"]]
    part = ToolCall(string_of(item, "id"), string_of(item, "name"), _raw(item, text, place, key))
    return Located(part, place, _leaves(place, key))


def _raw(item: dict[str, Any], text: str, place: Pointer, key: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    return value if type(value) is str else raw_at(text, (*place, key)) or ""


def _leaves(place: Pointer, key: str) -> tuple[Leaf, ...]:
    spell = as_json if key == "input" else _arguments
    return (Leaf("id", (*place, "id")), Leaf("name", (*place, "name")), Leaf("arguments", (*place, key), spell))


def _arguments(value: str, raw: str, speller: Speller) -> str:
    return as_either(value, raw, speller) if raw.startswith('"') else as_json(value, raw, speller)


def find_calls(inner: dict[str, Any], text: str, at: Pointer) -> Iterator[Located]:
    """The parsed calls with their copies; without them the raw ones."""
    copies = _Copies(inner, at)
    is_parsed = False
    for key in ("tool_calls", "invalid_tool_calls"):
        listed = inner.get(key)
        for index, item in enumerate(listed if type(listed) is list else ()):
            if type(item) is not dict:
                continue
            is_parsed = True
            place = (*at, key, index)
            part = ToolCall(string_of(item, "id"), string_of(item, "name"), _raw(item, text, place, "args"))
            found = copies.take(part.id)
            leaves = [*_leaves(place, "args"), *(leaf for copy in found for leaf in copies.leaves(copy))]
            yield Located(part, place, tuple(leaves), found)
    extra = inner.get("additional_kwargs")
    legacy = extra.get("function_call") if type(extra) is dict else None
    if not is_parsed and type(legacy) is dict:
        place = (*at, "additional_kwargs", "function_call")
        name = string_of(legacy, "name")
        renamed = (Leaf("name", (*place, "name")), Leaf("arguments", (*place, "arguments")))
        yield Located(ToolCall(name, name, _raw(legacy, text, place, "arguments")), place, renamed)


class _Copies:
    """Where a message repeats its calls: the provider's raw ones and blocks of the content, found by the call's id."""

    def __init__(self, inner: dict[str, Any], at: Pointer) -> None:
        self._places: list[tuple[str, Pointer]] = []
        extra = inner.get("additional_kwargs")
        raw = extra.get("tool_calls") if type(extra) is dict else None
        for index, item in enumerate(raw if type(raw) is list else ()):
            if type(item) is dict and type(item.get("function")) is dict:
                self._places.append((string_of(item, "id"), (*at, "additional_kwargs", "tool_calls", index)))
        content = inner.get("content")
        for index, item in enumerate(content if type(content) is list else ()):
            if string_of(item, "type") in BLOCKS:
                self._places.append((string_of(item, "id"), (*at, "content", index)))
        self._kinds = {place: content[place[-1]]["type"] for _, place in self._places if place[-2] == "content"}  # type: ignore[index]

    def take(self, id: str) -> tuple[Pointer, ...]:
        """One copy from each list; a second call with the same id gets the next ones."""
        found: dict[Pointer, Pointer] = {}
        for known, place in self._places:
            if known == id and place[:-1] not in found:
                found[place[:-1]] = place
        self._places = [each for each in self._places if each[1] not in found.values()]
        return tuple(found.values())

    def leaves(self, place: Pointer) -> tuple[Leaf, ...]:
        if place in self._kinds:
            return _leaves(place, BLOCKS[self._kinds[place]])
        inside = (*place, "function")
        return (
            Leaf("id", (*place, "id")),
            Leaf("name", (*inside, "name")),
            Leaf("arguments", (*inside, "arguments"), as_string),
        )


