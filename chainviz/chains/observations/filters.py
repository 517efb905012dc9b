"""Which results a person wants to see, in which order: read from the address, so that a page can be shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from chainviz.core.observations.index import HAS_MEDIA, IS_ERROR, ObservationIndex
from chainviz.web.query_params import small_number

STATES = {"": "All results", "error": "Errors", "no-call": "Without a call", "media": "With media"}
ORDERS = {"call": "In order", "tool": "By tool", "size": "By size"}
MOST_NAMES = 50
LONGEST = 1_000
"""Characters of a name or of words to find."""


@dataclass(frozen=True, slots=True)
class Filter:
    state: str = ""
    formats: frozenset[str] = frozenset()
    """Conventions; none is every one."""
    tools: frozenset[str] = frozenset()
    """Names; none is every one."""
    words: str = ""
    order: str = "call"
    names: tuple[str, ...] = ()
    """More tools whose results are recognised."""
    start: int = 0
    """Place of the first result among those that are wanted."""
    around: str = ""
    """Path of a node; the first result in it or after it is the first that is shown."""

    @property
    def is_narrow(self) -> bool:
        return bool(self.state or self.formats or self.tools or self.words)

    def query(self, **changes: object) -> str:
        """The address's query with some fields changed; it begins at the first result again."""
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
    """Numbers of the results that are wanted, in their order; the words are not looked for."""
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
