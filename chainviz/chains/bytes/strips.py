"""Rows of the chart of bytes that follow the order of the chain: all sections, and the sections or pairs of a level that is
too large to be read. Neighbours that are too narrow to be seen are joined, and open together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chainviz.chains.bytes.groups import MOST_READ
from chainviz.chains.bytes.level import Address, Level, range_name
from chainviz.chains.render.drawings.charts import WIDTH, Block
from chainviz.chains.render.numbers import share_text
from chainviz.core.chain.paths import Path
from chainviz.store.content.chain import StoredChain

NARROWEST = 8.0
"""Of the drawing's units: a narrower block is joined with others."""
MOST_JOINED = 8
"""Times the narrowest: neighbours of a strip are joined up to this, which leaves room for their names."""
LABELLED = 70.0
"""Units that the name of several pairs takes, such as 1.768–1023: they are joined until they have them."""
MOST_SEEN = 24
"""Rows of a level that the chart can show apart; of more, a strip leads to those that are too narrow."""
MOST_SECTIONS = 1_024
"""Of more sections only the sums of their blocks in the outline are read."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A row of sections, or of pairs in their order."""

    start: int
    size: int
    first: Path
    last: Path

    @property
    def name(self) -> str:
        return range_name(self.first, self.last)


@dataclass(frozen=True, slots=True)
class Scale:
    """What part of the chain the whole width is, and how sizes are written."""

    start: int
    size: int
    whole: int
    text: Callable[[int], str]

    def x(self, byte: int) -> float:
        return (byte - self.start) / max(1, self.size) * WIDTH

    def width(self, size: int) -> float:
        return size / max(1, self.size) * WIDTH

    def place(self, at: int, size: int) -> tuple[float, float]:
        """x and width."""
        return self.x(at), self.width(size)

    def words(self, name: str, size: int) -> str:
        return f"{name}, {self.text(size)}, {share_text(size, self.whole)}"


def section_strip(chain: StoredChain, level: Level) -> list[Strip]:
    """The sections of a level, neighbours together where they are narrow."""
    outline = chain.outline
    if level.first is None and outline.listing.section_count > MOST_SECTIONS:
        return _labelled(_section_blocks(chain), level.size)
    first = level.first.section if level.first else 1
    last = level.last.section if level.last else outline.listing.section_count
    places = outline.sections(first, last + 1)
    strips = (Strip(place.before.size, place.measure.size, Path(place.number), Path(place.number)) for place in places)
    return _few(strips, level.size)


def _section_blocks(chain: StoredChain) -> Iterator[Strip]:
    listing = chain.outline.listing
    for index, entry in enumerate(listing.sections):
        count, before = listing.sections_before(index)
        yield Strip(before.size, entry.measure.size, Path(count + 1), Path(count + entry.count))


def row_strip(chain: StoredChain, level: Level) -> list[Strip]:
    """The pairs of a level inside one section, from stretches of the outline or one by one; small neighbours together."""
    outline = chain.outline
    assert level.first is not None
    section = outline.section(level.first.section)
    ends = [end for end in outline.listing.row_counts if level.rows.start < end < level.rows.stop]
    borders = [level.rows.start, *ends, level.rows.stop] if ends else [*level.rows, level.rows.stop]
    strips, at = [], level.start
    for low, high in pairwise(borders):
        size = outline.measure_between(low, high).size
        strips.append(Strip(at, size, section.path_of(low), section.path_of(high - 1)))
        at += size
    return _labelled(strips, level.size)


def _labelled(strips: Iterable[Strip], whole: int) -> list[Strip]:
    """Small ones join their neighbours until there is room for the name of several."""
    least = whole * LABELLED / WIDTH
    return _joined(strips, lambda one, other: one.size < least and other.size < least)


def _few(strips: Iterable[Strip], whole: int) -> list[Strip]:
    """Narrow ones join their neighbours until there is room for a name."""
    least = whole * NARROWEST / WIDTH

    def is_narrow(one: Strip, other: Strip) -> bool:
        return min(one.size, other.size) < least and one.size + other.size < MOST_JOINED * least

    return _joined(strips, is_narrow)


def _joined(strips: Iterable[Strip], belong: Callable[[Strip, Strip], bool]) -> list[Strip]:
    """`belong`: whether the strips so far and the next one become one."""
    found: list[Strip] = []
    for strip in strips:
        if found and belong(found[-1], strip):
            last = found.pop()
            strip = Strip(last.start, last.size + strip.size, last.first, strip.last)
        found.append(strip)
    return found


def strip_blocks(strips: Sequence[Strip], scale: Scale, row: int, address: Address, level: Level) -> Iterator[Block]:
    for strip in strips:
        here = level.first is not None and _covers(strip, level)
        many = f"Sections {strip.first.section} to {strip.last.section}" if strip.first != strip.last else ""
        name = many if strip.first.pair is None and many else _long_name(strip)
        yield Block(
            *scale.place(strip.start, strip.size),
            row,
            "" if strip.first.pair is None else "tool",
            (f"{strip.name} · {scale.text(strip.size)}", strip.name, ""),  # half a range would name another
            scale.words(name, strip.size),
            address.of(strip.first, strip.last).url,
            is_here=here,
        )


def _covers(strip: Strip, level: Level) -> bool:
    assert level.first is not None and level.last is not None
    return strip.first.section <= level.first.section and level.last.section <= strip.last.section


def _long_name(strip: Strip) -> str:
    if strip.first.pair is None:
        return f"Section {strip.first.section}"
    return f"Pair {strip.name}" if strip.first == strip.last else f"Pairs {strip.name}"


def shows_strip(level: Level) -> str:
    """Which strip stands below the sections: sections or rows of a level that has more than one; "" for none."""
    if level.first is None or level.is_node:
        return ""
    if level.first.section != (level.last or level.first).section:
        return "sections"
    return "rows" if len(level.rows) > MOST_SEEN or len(level.messages) > MOST_READ else ""
