"""The filter and order of results, read from the address, so that a page can be shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from chainviz.core.observations.contract import LABELS, NATIVE, WHOLE_ACTION
from chainviz.core.observations.index import BY_ID, HAS_MEDIA, IS_ERROR, ObservationIndex
from chainviz.web.http import small_number

STATES = {"": "All results", "error": "Errors", "no-call": "Without a call", "media": "With media"}
ORDERS = {"call": "In order", "tool": "By tool", "size": "By size"}
MOST_NAMES = 50
LONGEST = 1_000
"""The most characters of a name or of words to find."""


@dataclass(frozen=True, slots=True)
class Filter:
    state: str = ""
    formats: frozenset[str] = frozenset()
    """The selected conventions; if empty, all."""
    tools: frozenset[str] = frozenset()
    """The selected tools; if empty, all."""
    words: str = ""
    order: str = "call"
    names: tuple[str, ...] = ()
    """Additional tools whose results are recognised."""
    start: int = 0
    """Place of the first result among those that are wanted."""
    around: str = ""
    """Path of a node; the first result in it or after it is the first that is shown."""

    @property
    def is_narrow(self) -> bool:
        return bool(self.state or self.formats or self.tools or self.words)

    def query(self, **changes: object) -> str:
        """Return the address's query with some fields changed; it begins at the first result again."""
        changed = replace(self, **{"start": 0, "around": "", **changes})  # type: ignore[arg-type]
        pairs = [("q", changed.words), ("state", changed.state)]
        pairs += [("format", each) for each in sorted(changed.formats)]
        pairs += [("tool", each) for each in sorted(changed.tools)]
        pairs += [("name", each) for each in changed.names]
        pairs.append(("order", "" if changed.order == "call" else changed.order))
        pairs.append(("n", str(changed.start) if changed.start else ""))
        return urlencode([(key, value) for key, value in pairs if value], errors="surrogatepass")


def filter_in(query: QueryDict) -> Filter:
    state, order = query.get("state", ""), query.get("order", "call")
    return Filter(
        state=state if state in STATES else "",
        formats=frozenset(query.getlist("format")),
        tools=frozenset(name[:LONGEST] for name in query.getlist("tool")),
        words=query.get("q", "")[:LONGEST],
        order=order if order in ORDERS else "call",
        names=tuple(dict.fromkeys(name[:LONGEST] for name in query.getlist("name")[:MOST_NAMES] if name)),
        start=small_number(query.get("n", "")) or 0,
        around=query.get("from", "")[:LONGEST],
    )


def chosen(index: ObservationIndex, wanted: Filter) -> Sequence[int]:
    """Return the numbers of the wanted results in their order, without searching for the words."""
    numbers: Sequence[int] = range(len(index.results))
    for is_wanted in _conditions(index, wanted):
        numbers = [number for number in numbers if is_wanted(number)]
    if wanted.order == "tool":
        names, tools = index.tools, index.results.column("tool")
        return sorted(numbers, key=lambda number: names[tools[number]])
    if wanted.order == "size":
        sizes = index.results.column("size")
        return sorted(numbers, key=lambda number: -sizes[number])
    return numbers


def _conditions(index: ObservationIndex, wanted: Filter) -> list[Callable[[int], bool]]:
    results = index.results
    found: list[Callable[[int], bool]] = []
    if wanted.state == "no-call":
        calls = results.column("call_message")
        found.append(lambda number: calls[number] < 0)
    elif wanted.state:
        flags, flag = results.column("flags"), IS_ERROR if wanted.state == "error" else HAS_MEDIA
        found.append(lambda number: bool(flags[number] & flag))
    if wanted.tools:
        tools = results.column("tool")
        kept_tools = {place for place, name in enumerate(index.tools) if name in wanted.tools}
        found.append(lambda number: tools[number] in kept_tools)
    if wanted.formats:
        groups, conventions = results.column("group"), index.groups.column("convention")
        kept_formats = {place for place, name in enumerate(index.conventions) if name in wanted.formats}
        found.append(lambda number: conventions[groups[number]] in kept_formats)
    return found


# What the results of a chain come to: by format, tool and state, and in all. Counts are of the whole chain.


FORMAT_LABELS = {**LABELS, NATIVE: "Tool messages"}
FORMAT_STATES = {"brackets": "format-1", "markdown": "format-2", "xml": "format-3"}
TOOLS = 30
"""The most tools to tick; those with the most results come first."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of the filter."""

    value: str
    label: str
    count: int
    is_chosen: bool
    hint: str = ""
    messages: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    results: int
    messages: int
    size: int
    """Size in bytes, including headers."""
    headers: int
    """Bytes of the headers."""
    by_id: int
    by_order: int
    errors: int
    without_call: int

    @property
    def linked(self) -> int:
        return self.by_id + self.by_order


@dataclass(frozen=True, slots=True)
class Facets:
    totals: Totals
    states: tuple[Facet, ...]
    formats: tuple[Facet, ...]
    tools: tuple[Facet, ...]
    tools_left: int

    @property
    def text_formats(self) -> tuple[Facet, ...]:
        return tuple(each for each in self.formats if each.value != NATIVE)

    @property
    def is_mixed(self) -> bool:
        return len(self.text_formats) > 1


def facets_of(index: ObservationIndex, wanted: Filter) -> Facets:
    totals = _totals(index)
    flags = Counter(index.results.column("flags"))
    with_media = sum(count for value, count in flags.items() if value & HAS_MEDIA)
    counts = {"": totals.results, "error": totals.errors, "no-call": totals.without_call, "media": with_media}
    states = (Facet(name, label, counts[name], wanted.state == name) for name, label in STATES.items())
    tools = _tools(index, wanted)
    return Facets(totals, tuple(states), _formats(index, wanted), tools, len(index.tools) - len(tools))


def _totals(index: ObservationIndex) -> Totals:
    results, groups = index.results, index.groups
    flags = Counter(results.column("flags"))
    by_id = sum(count for value, count in flags.items() if value & BY_ID)
    without_call = results.column("call_message").count(-1)
    size = sum(groups.column("size"))
    return Totals(
        results=len(results),
        messages=len(set(groups.column("message"))),
        size=size,
        headers=size - sum(results.column("size")),
        by_id=by_id,
        by_order=len(results) - by_id - without_call,
        errors=sum(count for value, count in flags.items() if value & IS_ERROR),
        without_call=without_call,
    )


def _formats(index: ObservationIndex, wanted: Filter) -> tuple[Facet, ...]:
    groups = index.groups
    firsts = [*groups.column("first"), len(index.results)]
    results, messages, sizes = Counter[int](), Counter[int](), Counter[int]()
    for place, (convention, size) in enumerate(zip(groups.column("convention"), groups.column("size"), strict=True)):
        results[convention] += firsts[place + 1] - firsts[place]
        messages[convention] += 1
        sizes[convention] += size
    names = index.conventions
    order = [*LABELS, NATIVE]
    return tuple(
        Facet(
            names[place], FORMAT_LABELS[names[place]], results[place], names[place] in wanted.formats,
            messages=messages[place], size=sizes[place],
        )
        for place in sorted(results, key=lambda place: order.index(names[place]))
    )  # fmt: skip


def _tools(index: ObservationIndex, wanted: Filter) -> tuple[Facet, ...]:
    """Return the tools with most results, and those that are chosen."""
    counts = Counter(index.results.column("tool")).most_common()
    shown = [(place, count) for at, (place, count) in enumerate(counts) if at < TOOLS or index.tools[place] in wanted.tools]
    return tuple(_tool(index.tools[place], count, wanted) for place, count in shown)


def _tool(name: str, count: int, wanted: Filter) -> Facet:
    hint = "Not a tool: a failed action" if name == WHOLE_ACTION else ""
    return Facet(name, name or "no name", count, name in wanted.tools, hint)
