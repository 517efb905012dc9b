"""Which section each stretch of a text belongs to: the innermost where sections are nested. Sweeps once over the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from chainviz.core.text_formats.contract import FoundSection, IgnoredRange

IGNORED = -1
"""The owner of text that belongs to no section."""


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    owner: int | None
    """Index of the section, IGNORED, or None for white space between them."""


def spans(text: str, sections: Sequence[FoundSection], ignored: Sequence[IgnoredRange]) -> Iterator[Span]:
    """Neighbouring spans that cover the whole text."""
    owned = [(section.outer_start, section.outer_end, index) for index, section in enumerate(sections)]
    owned += [(each.start, each.end, IGNORED) for each in ignored]
    owned.sort()
    ends = {end for _, end, _ in owned} | {start for start, _, _ in owned}
    places = sorted(ends | {0, len(text)})
    covering: list[tuple[int, int, int]] = []
    """A heap of those that have begun: the last one to begin first."""
    following = 0
    for start, end in pairwise(places):
        while following < len(owned) and owned[following][0] <= start:
            begin, until, owner = owned[following]
            heappush(covering, (-begin, until, owner))
            following += 1
        while covering and covering[0][1] <= start:
            heappop(covering)
        yield Span(start, end, covering[0][2] if covering else None)
