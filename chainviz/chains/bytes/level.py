"""The part of a chain that the chart of bytes shows: the addresses of its parts, and its bytes by tool and role."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from django.http import QueryDict

from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.counts import count_text
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import pieces_of, read_shapes, total_size
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.content.pieces import cut
from chainviz.store.models import Outline
from chainviz.store.outline.measures import Charts, unpack_charts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import cut_rows

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


MOST_READ = 4_000
"""The most messages whose shapes are read for a page."""
MOST_SUMMED = 16_000
"""The most messages whose shapes are read only for totals of the level and of everything outside it."""
MOST_PARTS = 20_000
"""The most parts of those messages; more are not listed one by one."""
TEXTS = {"ai": "AI texts", "human": "Human messages", "system": "System messages", "tool": "Other tool texts"}
"""Names for the content of a role's messages, other than calls and results."""
CALL, RESULT = "call", "result"


@dataclass(frozen=True, slots=True)
class PartSize:
    path: Path
    kind: str
    """`call`, `result`, or a role for anything else."""
    size: int


@dataclass(slots=True)
class NodeSize:
    path: Path
    size: int = 0
    parts: list[PartSize] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """The calls and results of a tool, or the other content in messages of a role."""

    name: str
    role: str
    """The role; `tool` for a tool."""
    is_tool: bool
    size: int = 0
    calls: int = 0
    results: int = 0
    result_size: int = 0
    nodes: list[NodeSize] = field(default_factory=list)
    """The nodes with their sizes; empty if only totals are known."""

    @property
    def count(self) -> str:
        """The number of calls, or of results if there are more."""
        return count_text(self.calls, "call") if self.calls >= self.results else count_text(self.results, "result")

    @property
    def call_size(self) -> int:
        return self.size - self.result_size if self.is_tool else 0


def groups_of(chain: StoredChain, outline: Outline, level: Level) -> list[Group] | None:
    """Return the charts with any parts, the largest first, or None if only the size of the level is known."""
    found = _read(chain, level) if len(level.messages) <= MOST_READ else None
    if found is None:
        charts = _charts(chain, outline, level)
        found = None if charts is None else _sums(charts)
    return None if found is None else sorted(found, key=lambda group: (-group.size, group.name))


class _Groups:
    def __init__(self) -> None:
        self.found: dict[tuple[bool, str], Group] = {}

    def add(self, shape: StoredShape, place: Path, names: dict[str, str]) -> None:
        """`names` contains the tools by call id of the row, for results that do not name their tool."""
        for index, part in enumerate(shape.parts):
            path = Path(place.section, place.pair, place.message, index)
            if part.kind in ("tool_call", "tool_result"):
                is_result = part.kind == "tool_result"
                name = part.name or names.get(part.id, "") if is_result else part.name
                if not is_result:
                    names[part.id] = name
                group = self._group(True, name, "tool")
                group.calls += not is_result
                group.results += is_result
                group.result_size += part.size if is_result else 0
                self._count(group, PartSize(path, RESULT if is_result else CALL, part.size))
            elif part.size:
                role = shape.role if shape.role in TEXTS else "tool"
                self._count(self._group(False, role, role), PartSize(path, role, part.size))

    def _group(self, is_tool: bool, name: str, role: str) -> Group:
        key = is_tool, name
        if key not in self.found:
            self.found[key] = Group(name if is_tool else TEXTS[role], role, is_tool)
        return self.found[key]

    @staticmethod
    def _count(group: Group, part: PartSize) -> None:
        group.size += part.size
        node = part.path.node
        if not group.nodes or group.nodes[-1].path != node:
            group.nodes.append(NodeSize(node))
        group.nodes[-1].size += part.size
        group.nodes[-1].parts.append(part)


def _read(chain: StoredChain, level: Level) -> list[Group] | None:
    groups = _Groups()
    shapes = [found.shape for found in chain.rows(level.messages.start, level.messages.stop)]
    if sum(len(shape.parts) for shape in shapes) > MOST_PARTS:
        return None
    if level.is_inside and level.first is not None:
        names = {part.id: part.name for shape in _call_before(chain, level) for part in shape.parts}
        _add(groups, shapes, level.first, names)
        return list(groups.found.values())
    for path, row in zip(_paths(chain, level), cut_rows(shapes), strict=True):
        # the header's path names its message; m0 of a pair is reserved for the AI message
        number = path.message or 0 if path.pair == 0 else int(row.pair.ai is None)
        _add(groups, row.messages, Path(path.section, path.pair, number), {})
    return list(groups.found.values())


def _add(groups: _Groups, shapes: Iterable[StoredShape], first: Path, names: dict[str, str]) -> None:
    """Return the messages of one row, from the path of the first on."""
    for number, shape in enumerate(shapes, first.message or 0):
        groups.add(shape, Path(first.section, first.pair, number), names)


def _call_before(chain: StoredChain, level: Level) -> list[StoredShape]:
    """Return the first message of the pair whose other messages form the level. Its calls name the tools of their results."""
    if not level.is_inside or level.first is None:
        return []
    start = chain.span(level.first.node).start
    return [chain.rows(start, start + 1)[0].shape] if start < level.messages.start else []


def _paths(chain: StoredChain, level: Level) -> Iterator[Path]:
    outline = chain.outline
    if not level.rows:
        return
    first = outline.section_of_row(level.rows.start).number
    last = outline.section_of_row(level.rows.stop - 1).number
    for section in outline.sections(first, last + 1):
        begin = max(level.rows.start, section.before.rows)
        for row in range(begin, min(level.rows.stop, section.before.rows + section.measure.rows)):
            yield section.path_of(row)


def _charts(chain: StoredChain, outline: Outline, level: Level) -> Charts | None:
    """Return the charts of a level. They are computed from its rows, or from the whole chain less the rows outside,
    whichever reads less. None if both are too many."""
    inside, total = level.messages, chain.snapshot.messages
    if min(len(inside), total - len(inside)) > MOST_SUMMED:
        return None
    call = _call_before(chain, level)
    if len(inside) <= MOST_SUMMED:
        charts = Charts()
        _add_rows(charts, chain, inside, 1, call)
        return charts
    charts = unpack_charts(outline.charts)
    _add_rows(charts, chain, range(inside.start), -1, [])
    _add_rows(charts, chain, range(inside.stop, total), -1, call)
    return charts


def _add_rows(charts: Charts, chain: StoredChain, messages: range, sign: int, call: list[StoredShape]) -> None:
    """Add rows to the charts, or subtract them. `call` is the call before the first row that the row answers; it is not
    counted."""
    charts.add(call, -sign)
    for row in cut_rows(read_shapes(cut(pieces_of(chain.snapshot), messages.start, messages.stop))):
        charts.add((*call, *row.messages), sign)
        call = []


def _sums(charts: Charts) -> list[Group]:
    tools = [
        Group(name, "tool", True, call_size + result_size, calls, results, result_size)
        for name, (calls, call_size, results, result_size, _) in charts.tools.items()
    ]
    rest: dict[str, int] = {}
    for role, (_, size) in charts.roles.items():
        known = role if role in TEXTS else "tool"
        rest[known] = rest.get(known, 0) + size
    # calls are in AI messages and results in tool messages, but messages of people may contain calls too
    _take(rest, sum(tool.call_size for tool in tools), ("ai", "human", "tool", "system"))
    _take(rest, sum(tool.result_size for tool in tools), ("tool", "human", "ai", "system"))
    return [*tools, *(Group(TEXTS[role], role, False, size) for role, size in rest.items() if size)]


def _take(rest: dict[str, int], size: int, roles: tuple[str, ...]) -> None:
    for role in roles:
        taken = min(size, rest.get(role, 0))
        if taken:
            rest[role] -= taken
            size -= taken
