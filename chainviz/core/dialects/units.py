"""Read and write units of several messages: calls beside their results in one unit, parts in a list. Also creates ids
for calls without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from chainviz.core.chain.messages import Fragment, Message, Part
from chainviz.core.dialects.values import Speller, matched
from chainviz.core.documents.assemble import with_items
from chainviz.core.documents.json import edit as json_edit
from chainviz.core.documents.json.edit import load_array, raw_at, value_of
from chainviz.core.documents.units import Pointer, Unit

Make = Callable[[Any, str, tuple[Fragment, ...]], Message]
"""Makes a message from a unit's value, its text and the source."""


def has_role(value: Any) -> bool:
    return type(value) is dict and type(value.get("role")) is str


def read_units(units: Iterable[Unit], make: Make, is_message: Callable[[Any], bool] = has_role) -> Iterator[Message | Unit]:
    for unit in units:
        yield make(unit.value, unit.text, (unit.fragment(),)) if is_message(unit.value) else unit


def read_again(source: tuple[Fragment, ...], make: Make) -> Message:
    return make(value_of(source[0]), source[0].text, source)


# Both messages own the element: the AI message its call half, the tool message its result half (a negative block).


Home = tuple[str, list[str]]
"""An element with a call, and the elements with its results."""


class Halves(Protocol):
    def call_id(self, element: str) -> str | None:
        """Return the id that a call shares with its result: "" if it has none or the unit is one element, None if it is
        not a call."""

    def without_result(self, element: str) -> str:
        """Return the element while its call has no result; any other element is unchanged."""

    def without_call(self, element: str) -> str:
        """Return the element after its call was removed and only its result is left."""

    def with_results(self, element: str, results: Sequence[str]) -> str:
        """Return the element with only the result halves of these elements."""


def joined_halves(fragments: Sequence[Fragment], at: Pointer, halves: Halves) -> str:
    """Return the unit with the call halves of its AI messages and the result halves of its tool messages."""
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
    """Return the results of the call that a result belongs to: the call of its own element, else the first call with
    its id that has none yet. A unit that is one call takes all results."""
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


@dataclass(frozen=True, slots=True)
class ElementWriter:
    """The functions with which a format writes an element of its list."""

    new: Callable[[Part, Speller], str | None]
    changed: Callable[[str, Part, Part, Speller], str]
    """Returns the changed text of an element from its text, its old part and its new one."""


def patched_parts(raw: str, old: Sequence[Part], new: Sequence[Part], writer: ElementWriter, speller: Speller) -> str:
    """Return the list of the parts with unchanged elements kept. `raw` is a list whose elements are the old parts."""
    array = json_edit.load_array(raw)
    row: list[int | str] = []
    for part, claim in zip(new, matched(old, new), strict=True):
        if claim is None:
            made = writer.new(part, speller)
            if made is not None:
                row.append(made)
            continue
        if part != old[claim]:
            array.set(claim, writer.changed(array.raw(claim), old[claim], part, speller))
        row.append(claim)
    array.rebuild(row)
    return str(array)


# Ids that are shown and never written: the first call of `ls` is `ls`, the second of the message `ls#2`; a result answers the
# next one.


class DisplayIds:
    """Counts the calls, or the results, of one message."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def following(self, name: str) -> str:
        """Return the id of the next call of this name."""
        count = self._counts[name] + 1
        return name if count == 1 else f"{name}#{count}"

    def take(self, name: str) -> str:
        """Return the id of the next call of this name, and count it."""
        id = self.following(name)
        self._counts[name] += 1
        return id

    def takes(self, id: str, name: str) -> bool:
        """Return True if the next call of this name is shown with this id, and take that id."""
        if id not in ("", self.following(name)):
            return False
        self.take(name)
        return True
