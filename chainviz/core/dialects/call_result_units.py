"""Units that hold calls together with their results, though the AI message and the tool message are two.

Both messages own the element: the AI message its call half, the tool message its result half (a negative block).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from chainviz.core.chain.messages import Fragment
from chainviz.core.documents.assemble import with_items
from chainviz.core.documents.json.edit import load_array, raw_at
from chainviz.core.documents.units import Pointer


class Halves(Protocol):
    def call_id(self, element: str) -> str:
        """The id that a call shares with its result; "" where the unit is one element."""

    def without_result(self, element: str) -> str:
        """The element as long as its call has no result; any other as it is."""

    def without_call(self, element: str) -> str:
        """The element where only its result is left."""

    def with_results(self, element: str, results: Sequence[str]) -> str:
        """The element with the result halves of these elements, and no others."""


def joined_halves(fragments: Sequence[Fragment], at: Pointer, halves: Halves) -> str:
    """The unit with the call halves of its AI messages and the result halves of its tool messages."""
    items: list[tuple[str, list[str]]] = []
    for fragment in fragments:
        elements = _elements(fragment.text, at)
        for index in range(len(elements)) if fragment.blocks is None else fragment.blocks:
            element = elements[index if index >= 0 else ~index]
            home = None if index >= 0 else _home(items, element, halves)
            if home is None:
                items.append((element, []) if index >= 0 else (halves.without_call(element), [element]))
            else:
                home.append(element)
    made = [halves.with_results(call, found) if found else halves.without_result(call) for call, found in items]
    text = fragments[0].text
    if _elements(text, at) == made:
        return text
    return with_items(text, at, made) if (raw_at(text, at) or "").startswith("[") else made[0]


def _home(items: Sequence[tuple[str, list[str]]], result: str, halves: Halves) -> list[str] | None:
    """The results of the first call with the same id that has none yet; a unit that is one call takes all."""
    id = halves.call_id(result)
    return next((found for call, found in items if not (found and id) and halves.call_id(call) == id), None)


def _elements(text: str, at: Pointer) -> list[str]:
    raw = raw_at(text, at) or ""
    if not raw.startswith("["):
        return [text]
    array = load_array(raw)
    return [array.raw(index) for index in range(len(array))]
