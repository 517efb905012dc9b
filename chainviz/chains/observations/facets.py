"""What the results of a chain come to: by format, tool and state, and in all. Counts are of the whole chain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from chainviz.chains.observations.filters import STATES, Filter
from chainviz.core.observations.contract import LABELS, NATIVE, WHOLE_ACTION
from chainviz.core.observations.index import BY_ID, HAS_MEDIA, IS_ERROR, ObservationIndex

FORMAT_LABELS = {**LABELS, NATIVE: "Tool messages"}
FORMAT_STATES = {"brackets": "format-1", "markdown": "format-2", "xml": "format-3"}
TOOLS = 30
"""Tools to tick at once, those with most results first."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of the filter."""

    value: str
    label: str
    count: int
    is_chosen: bool
    hint: str = ""
    state: str = "quiet"
    messages: int = 0
    size: int = 0


@dataclass(frozen=True, slots=True)
class Totals:
    results: int
    messages: int
    size: int
    """Bytes with headers."""
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

    @property
    def shares(self) -> tuple[tuple[Facet, float, float], ...]:
        """Each format with its place and width in a bar of length 100."""
        total = max(1, self.totals.results)
        ends = accumulate(each.count / total * 100 for each in self.formats)
        return tuple(
            (each, end - each.count / total * 100, each.count / total * 100)
            for each, end in zip(self.formats, ends, strict=True)
        )


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
            state=FORMAT_STATES.get(names[place], "quiet"), messages=messages[place], size=sizes[place],
        )
        for place in sorted(results, key=lambda place: order.index(names[place]))
    )  # fmt: skip


def _tools(index: ObservationIndex, wanted: Filter) -> tuple[Facet, ...]:
    """Those with most results, and those that are chosen."""
    counts = Counter(index.results.column("tool")).most_common()
    shown = [(place, count) for at, (place, count) in enumerate(counts) if at < TOOLS or index.tools[place] in wanted.tools]
    return tuple(_tool(index.tools[place], count, wanted) for place, count in shown)


def _tool(name: str, count: int, wanted: Filter) -> Facet:
    hint = "Not a tool: a failed action" if name == WHOLE_ACTION else ""
    return Facet(name, name or "no name", count, name in wanted.tools, hint)
