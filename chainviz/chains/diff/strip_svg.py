"""Draw the differences of two chains: a lane for each chain, and bands between matching messages. A difference is a
link.

Lanes are in percent, so that their labels keep their shape at every width; the bands between them are stretched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.diff.address import query
from chainviz.core.counts import count_text
from chainviz.core.diff.chains import ChainDiff
from chainviz.core.diff.group_table import Cell, cells_of
from chainviz.store.content.chain import StoredChain

LANE, BETWEEN = 22, 30
"""In pixels: the height of a lane, and the space between two."""
LEAST = 0.25
"""The smallest width of a cell, in percent, so that it can be seen and clicked."""
MOST_SECTIONS = 100
LABELLED = 6
"""The smallest width of a section with a name, in percent."""
ONE_SIDED = {"removed": "only in A", "added": "only in B"}
"""Words for nodes that only one of two runs has: nobody added or removed them."""
KINDS = {"same": "equal", "changed": "changed", "moved": "moved", **ONE_SIDED}


@dataclass(frozen=True, slots=True)
class Strip:
    svg: SafeString
    legend: tuple[tuple[str, str, int], ...]
    """For each kind that occurs: the kind, its word, and the number of messages."""


def strip_of(diff: ChainDiff, one: StoredChain, other: StoredChain, layout: str) -> Strip | None:
    """Draw the strip, or return None if the chains are equal."""
    if diff.is_empty:
        return None
    return Strip(_svg(diff, (_section_starts(one), _section_starts(other)), layout), tuple(_legend(diff)))


def _svg(diff: ChainDiff, sections: tuple[Sequence[int], Sequence[int]], layout: str) -> SafeString:
    """Draw the strip. `sections` contains the first message of each section of both chains."""
    before, after = max(1, diff.before.messages), max(1, diff.after.messages)
    cells = cells_of(diff.groups, before, after)
    lanes = [[_extent(place, of) for place, of in ((cell.old, before), (cell.new, after))] for cell in cells]
    bands = "".join(map(_band, cells, lanes))
    boxes = "".join(_cell(cell, lane, layout) for cell, lane in zip(cells, lanes, strict=True))
    first = next(cell for cell in cells if cell.first)
    marks = _first(100 * first.old.start / before, 100 * first.new.start / after)
    labels = _labels(sections[0], before, 0) + _labels(sections[1], after, LANE + BETWEEN)
    return mark_safe(  # made of numbers and fixed words
        f'<svg class="strip" width="100%" height="{2 * LANE + BETWEEN}" role="group" data-strip '
        f'aria-label="Both chains from their first message to their last">{_stretched(bands)}{boxes}{labels}{marks}</svg>'
    )


def _legend(diff: ChainDiff) -> list[tuple[str, str, int]]:
    counts = dict.fromkeys(KINDS, 0)
    for group in diff.groups:
        kind = group.kind if group.kind in KINDS else "changed"
        counts[kind] += 0 if group.is_departure else max(group.old.measure.messages, group.new.measure.messages)
    return [(kind, KINDS[kind], count) for kind, count in counts.items() if count]


def _cell(cell: Cell, lanes: Sequence[tuple[float, float]], layout: str) -> str:
    boxes = "".join(
        f'<rect x="{start:.2f}%" y="{y}" width="{width:.2f}%" height="{LANE}"/>'
        for (start, width), y in zip(lanes, (0, LANE + BETWEEN), strict=True)
        if width
    )
    if not cell.changes:
        return f'<g class="strip-cell" data-kind="{cell.kind}">{boxes}</g>'
    href = query(**{"from": cell.first if cell.first > 1 else "", "layout": layout if layout != "split" else ""})
    return f'<a class="strip-cell" data-kind="{cell.kind}" href="{href}#change-{cell.first}" aria-label="{_words(cell)}">{boxes}</a>'


def _band(cell: Cell, lanes: Sequence[tuple[float, float]]) -> str:
    (a, a_width), (b, b_width) = lanes
    if not a_width or not b_width:
        return ""
    half, a_end, b_end = BETWEEN / 2, a + a_width, b + b_width
    down = f"M{a:.2f} 0H{a_end:.2f}C{a_end:.2f} {half} {b_end:.2f} {half} {b_end:.2f} {BETWEEN}"
    back = f"H{b:.2f}C{b:.2f} {half} {a:.2f} {half} {a:.2f} 0"
    return f'<path class="strip-band" data-kind="{cell.kind}" d="{down}{back}"/>'


def _extent(place: range, of: int) -> tuple[float, float]:
    """Start and width in percent."""
    start, width = 100 * place.start / of, 100 * len(place) / of
    return (min(start, 100 - LEAST), max(width, LEAST)) if width else (start, 0)


def _section_starts(chain: StoredChain) -> list[int]:
    """Return the first message of each section; [] if there are too many to name."""
    count = chain.outline.listing.section_count
    return [place.before.messages for place in chain.outline.sections(1, count + 1)] if count <= MOST_SECTIONS else []


def _stretched(inside: str) -> str:
    return f'<svg y="{LANE}" width="100%" height="{BETWEEN}" viewBox="0 0 100 {BETWEEN}" preserveAspectRatio="none">{inside}</svg>'


def _words(cell: Cell) -> str:
    places = (side.first.number if side.first else "" for side in (cell.group.old, cell.group.new))
    a, b = places
    where = f"at {a} of A and {b} of B" if a and b else f"at {a} of A" if a else f"at {b} of B"
    last = cell.first + cell.changes - 1
    name = f"Change {cell.first:,}" if cell.changes == 1 else f"Changes {cell.first:,} to {last:,}"
    size = count_text(max(len(cell.old), len(cell.new)), "message")
    return f"{name}, {where}: {KINDS[cell.kind]}, {size}"


def _labels(starts: Sequence[int], of: int, y: int) -> str:
    """Draw a line at the start of each section, and its name if there is room."""
    found = []
    stops = [*starts[1:], of][: len(starts)]
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True), 1):
        x = 100 * start / of
        if number > 1:
            found.append(f'<rect class="strip-border" x="{x:.2f}%" y="{y}" width="1.5" height="{LANE}"/>')
        if 100 * (stop - start) / of >= LABELLED:
            found.append(f'<text x="{x:.2f}%" dx="6" y="{y + 15}">§{number}</text>')
    return f'<g class="strip-labels" aria-hidden="true">{"".join(found)}</g>'


def _first(a: float, b: float) -> str:
    """Return the line where the two begin to differ."""
    half = BETWEEN / 2
    line = _stretched(f'<path d="M{a:.2f} 0C{a:.2f} {half} {b:.2f} {half} {b:.2f} {BETWEEN}"/>')
    ends = "".join(f'<rect x="{x:.2f}%" y="{y}" width="2" height="{LANE}"/>' for x, y in ((a, 0), (b, LANE + BETWEEN)))
    return f'<g class="strip-first" aria-hidden="true">{line}{ends}</g>'
