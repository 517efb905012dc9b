"""Rows of the chart of bytes that follow the order of the chain: all sections, and the sections or pairs of a level that is
too large to be read. Neighbours that are too narrow to be seen are joined, and open together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from chainviz.chains.bytes.level import MOST_READ, RESULT, Address, Level, level_of, range_name
from chainviz.chains.render.charts import WIDTH, Block
from chainviz.core.chain.paths import Path
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of, total_size
from chainviz.store.content.pieces import cut
from chainviz.web.formatting import share_text

NARROWEST = 8.0
"""The narrowest block, in units of the drawing; narrower ones are joined with others."""
MOST_JOINED = 64.0
"""Neighbours are joined up to this width, which leaves room for the name of several, such as §101–109."""
NAMED = 26.0
"""The width that the name of a section needs, such as §12."""
LABELLED = 80.0
"""The width that the name of several pairs needs, such as 45000–50000. Pairs are joined until they have it."""
STRETCHES = 64
"""The number of groups of a pair's messages, before small ones are joined."""
MOST_SEEN = 24
"""The most rows of a level that the chart shows separately. If there are more, a strip leads to those that are too
narrow."""
MOST_SECTIONS = 1_024
"""If there are more sections, only the totals of their outline blocks are read."""


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

    @property
    def labels(self) -> tuple[str, ...]:
        """The longest first. None is cut: half a range would name another."""
        first, last = self.first, self.last
        if not first.pair or first == last:
            return (self.name,)
        if first.message is not None:
            return f"Messages {first.message}–{last.message}", f"{first.message}–{last.message}"
        return f"Pairs {first.pair}–{last.pair}", f"{first.pair}–{last.pair}"

    def holds(self, other: Strip) -> bool:
        return _low(self.first) <= _low(other.first) and _high(other.last) <= _high(self.last)


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of bytes that the whole width covers, and the format of sizes."""

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


def _low(path: Path) -> tuple[float, ...]:
    return path.section, path.pair or 0, path.message or 0


def _high(path: Path) -> tuple[float, ...]:
    return path.section, inf if path.pair is None else path.pair, inf if path.message is None else path.message


def section_strip(chain: StoredChain, level: Level) -> list[Strip]:
    """Return the sections of a level; narrow neighbours are joined."""
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
    """Return the pairs of a level inside one section; small neighbours are joined."""
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


def message_strip(chain: StoredChain, level: Level) -> list[Strip]:
    """Return the messages of a pair in groups of equal size; small ones are joined."""
    messages = level.messages
    step = -(-len(messages) // STRETCHES)
    pieces, strips, at = pieces_of(chain.snapshot), [], level.start
    for low in range(messages.start, messages.stop, step):
        high = min(low + step, messages.stop)
        size = total_size(cut(pieces, low, high))
        strips.append(Strip(at, size, chain.outline.path_at(low), chain.outline.path_at(high - 1)))
        at += size
    return _labelled(strips, level.size)


def _labelled(strips: Iterable[Strip], whole: int) -> list[Strip]:
    """Small ones join their neighbours until there is room for the name of several; one that is left joins its neighbour."""
    least = whole * LABELLED / WIDTH
    few = _joined(strips, lambda one, other: one.size < least and other.size < least)
    return _joined(few, lambda one, other: min(one.size, other.size) < 0.75 * least and one.size + other.size < 3 * least)


def _few(strips: Iterable[Strip], whole: int) -> list[Strip]:
    """Narrow ones join their neighbours until there is room for a name."""
    unit = whole / WIDTH

    def is_narrow(one: Strip, other: Strip) -> bool:
        return min(one.size, other.size) < NAMED * unit and one.size + other.size < MOST_JOINED * unit

    return _joined(strips, is_narrow)


def _joined(strips: Iterable[Strip], belong: Callable[[Strip, Strip], bool]) -> list[Strip]:
    """Join strips. `belong` returns True if the strips so far and the next one are to be joined."""
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
        below = address.of(strip.first, strip.last)
        yield Block(
            *scale.place(strip.start, strip.size),
            row,
            "" if strip.first.pair is None else "tool",
            (f"{strip.labels[0]} · {scale.text(strip.size)}", *strip.labels, ""),
            scale.words(name, strip.size),
            below.url,
            select_url=replace(below, part=RESULT).url,
            is_here=here,
        )


def _covers(strip: Strip, level: Level) -> bool:
    assert level.first is not None and level.last is not None
    return strip.first.section <= level.first.section and level.last.section <= strip.last.section


def _long_name(strip: Strip) -> str:
    if strip.first.pair is None:
        return f"Section {strip.first.section}"
    if strip.first.message is not None and strip.first.pair:
        several = "" if strip.first == strip.last else f"s {strip.first.message} to {strip.last.message}"
        return f"Message{several or f' {strip.first.message}'} of pair {strip.first.number}"
    return f"Pair {strip.name}" if strip.first == strip.last else f"Pairs {strip.name}"


def strips_below(chain: StoredChain, level: Level) -> list[Strip]:
    """Return the strip below a level; [] if its nodes are shown one by one."""
    match shows_strip(level):
        case "sections":
            return section_strip(chain, level)
        case "rows":
            return row_strip(chain, level)
        case "messages":
            return message_strip(chain, level)
    return []


def trail(chain: StoredChain, level: Level) -> list[Strip]:
    """Return the strips to choose, one after the other, from the whole chain down to the level, without the level itself."""
    found: list[Strip] = []
    here = level_of(chain, "", "")
    strips = section_strip(chain, here)
    while level.first is not None and level.last is not None:
        own = Strip(level.start, level.size, level.first, level.last)
        strip = next((strip for strip in strips if strip.holds(own)), None)
        if strip is None or own.holds(strip) or strip in found:
            break
        found.append(strip)
        strips = strips_below(chain, level_of(chain, str(strip.first), str(strip.last)))
    if level.is_inside and level.first is not None and level.first.node not in {strip.first for strip in found}:
        pair = level_of(chain, str(level.first.node), "")
        found.append(Strip(pair.start, pair.size, level.first.node, level.first.node))
    return found


def shows_strip(level: Level) -> str:
    """Return the kind of strip below the sections: "sections", "rows" or "messages" of a level that has many; "" for none."""
    if level.first is None:
        return ""
    if level.is_node or level.is_inside:
        return "messages" if len(level.messages) > MOST_SEEN else ""
    if level.first.section != (level.last or level.first).section:
        return "sections"
    return "rows" if len(level.rows) > MOST_SEEN or len(level.messages) > MOST_READ else ""
