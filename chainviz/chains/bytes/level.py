"""The part of a chain that the chart of bytes shows, and the addresses of its parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict

from chainviz.core.chain.paths import Path, parse_path
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of, total_size
from chainviz.store.content.pieces import cut
from chainviz.store.outline.reader import OutlineReader

MOST_NAME = 500
"""The longest tool name in an address, in characters."""


@dataclass(frozen=True, slots=True)
class Level:
    """Neighbours: the whole chain, sections, pairs of one section, one node, or messages of one pair."""

    first: Path | None
    """The first node, or None for the whole chain."""
    last: Path | None
    rows: range
    start: int
    """The number of bytes before it."""
    size: int
    messages: range

    @property
    def is_node(self) -> bool:
        return self.first is not None and self.first.pair is not None and self.first == self.last

    @property
    def is_inside(self) -> bool:
        """Messages of one pair."""
        return self.first is not None and bool(self.first.pair) and self.first.message is not None

    @property
    def name(self) -> str:
        """§9, §1–20, 9.1–256, 9.31, 9.31 m1–500; "" for the whole chain."""
        return range_name(self.first, self.last) if self.first and self.last else ""


def range_name(first: Path, last: Path) -> str:
    if first.pair and first.message is not None:
        return f"{first.number} m{first.message}" + (f"–{last.message}" if last != first else "")
    if first == last or first.pair == last.pair == 0:
        return first.number
    if first.pair is None:
        return f"§{first.section}–{last.section}"
    start = first.number if (first.pair, last.pair) == (0, 1) else f"{first.section}.{first.pair or 1}"
    return f"{start}–{last.number if last.pair == 1 else last.pair}"


def level_of(chain: StoredChain, at: str, to: str) -> Level:
    """Raise PathError if the chain has no such node."""
    outline = chain.outline
    total = outline.listing.total
    if not at:
        return Level(None, None, range(total.rows), 0, total.size, range(total.messages))
    ends = (_visible_path(parse_path(at)), _visible_path(parse_path(to or at)))
    first, last = sorted(ends, key=lambda path: (path.section, path.pair or 0, path.message or 0))
    if first.pair and first.message is not None and first.node == last.node and last.message is not None:
        return _inside(chain, first, last)
    first, last = first.node, last.node
    if first.section != last.section or (first.pair is None) != (last.pair is None):
        first, last = Path(first.section), Path(last.section)
    low, high = _rows_of(outline, first), _rows_of(outline, last)
    rows = range(low.start, high.stop)
    start = outline.measure_between(0, rows.start)
    inside = outline.measure_between(rows.start, rows.stop)
    return Level(first, last, rows, start.size, inside.size, range(start.messages, start.messages + inside.messages))


def _visible_path(path: Path) -> Path:
    return Path(path.section, path.pair, path.message) if path.pair else path.node


def _inside(chain: StoredChain, first: Path, last: Path) -> Level:
    whole = level_of(chain, str(first.node), "")
    messages = range(chain.span(first).start, chain.span(last).stop)
    pieces = pieces_of(chain.snapshot)
    before = total_size(cut(pieces, whole.messages.start, messages.start))
    size = total_size(cut(pieces, messages.start, messages.stop))
    return Level(first, last, whole.rows, whole.start + before, size, messages)


def _rows_of(outline: OutlineReader, path: Path) -> range:
    place = outline.section(path.section)
    if path.pair is None:
        return range(place.before.rows, place.before.rows + place.measure.rows)
    row = place.row_of(path)
    return range(row, row + 1)


@dataclass(frozen=True, slots=True)
class Address:
    """One view of the chart."""

    page: str
    at: str = ""
    to: str = ""
    by: str = "bytes"
    tool: str | None = None
    """The tool whose results are selected, or None if a part or nothing is selected."""
    part: str = ""
    """The selected kind of parts."""

    @property
    def url(self) -> str:
        words = {"at": self.at, "to": self.to if self.to != self.at else "", "part": self.part}
        given = {name: word for name, word in words.items() if word}
        if self.by != "bytes":
            given["by"] = self.by
        if self.tool is not None:
            given["tool"] = self.tool
        return f"{self.page}?{urlencode(given, errors='surrogatepass')}" if given else self.page

    def of(self, first: Path | None, last: Path | None = None) -> Address:
        """Another level, nothing selected."""
        return replace(self, at=str(first or ""), to=str(last or ""), tool=None, part="")


def read_address(page: str, query: QueryDict) -> Address:
    tool = query.get("tool")
    return Address(
        page,
        query.get("at", "")[:80],
        query.get("to", "")[:80],
        "tokens" if query.get("by") == "tokens" else "bytes",
        tool[:MOST_NAME] if tool is not None else None,
        query.get("part", "") if tool is None else "",
    )
