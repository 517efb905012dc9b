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

Home = tuple[str, list[str]]
"""An element with a call, and the elements that hold its results."""


class Halves(Protocol):
    def call_id(self, element: str) -> str | None:
        """The id that a call shares with its result; "" where it has none or the unit is one element; None for what is no call."""

    def without_result(self, element: str) -> str:
        """The element as long as its call has no result; any other as it is."""

    def without_call(self, element: str) -> str:
        """The element where only its result is left."""

    def with_results(self, element: str, results: Sequence[str]) -> str:
        """The element with the result halves of these elements, and no others."""


def joined_halves(fragments: Sequence[Fragment], at: Pointer, halves: Halves) -> str:
    """The unit with the call halves of its AI messages and the result halves of its tool messages."""
    items: list[Home] = []
    by_id: dict[str | None, list[Home]] = {}
    for fragment in fragments:
        elements = _elements(fragment.text, at)
        for index in range(len(elements)) if fragment.blocks is None else fragment.blocks:
            element = elements[index if index >= 0 else ~index]
            homes = by_id.setdefault(id := halves.call_id(element), [])
            found = _results_of(homes, element, id) if index < 0 else None
            if found is not None:
                found.append(element)
                continue
            items.append((element, []) if index >= 0 else (halves.without_call(element), [element]))
            homes.append(items[-1])
    made = [halves.with_results(call, found) if found else halves.without_result(call) for call, found in items]
    text = fragments[0].text
    if _elements(text, at) == made:
        return text
    return with_items(text, at, made) if (raw_at(text, at) or "").startswith("[") else made[0]


def _results_of(homes: Sequence[Home], result: str, id: str | None) -> list[str] | None:
    """The results of the call that a result belongs to, of those with its id: of its own element, else of the first one that
    has none yet. A unit that is one call takes all."""
    open_ones = [home for home in homes if not home[1]]
    own = [home for home in open_ones if home[0] == result]
    found = own or open_ones or (homes if id == "" else ())
    return found[0][1] if found else None


def _elements(text: str, at: Pointer) -> list[str]:
    raw = raw_at(text, at) or ""
    if not raw.startswith("["):
        return [text]
    array = load_array(raw)
    return [array.raw(index) for index in range(len(array))]
