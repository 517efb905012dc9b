"""Read a window of rows: sections, header messages and pairs as a flat list, from any path in either direction.

The cost of a window does not depend on its place or on the length of the chain: at most five queries, and two blocks of each kind in
addition to those in which folded runs begin and end. The content of closed sections is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain as chained
from itertools import islice
from typing import Literal, NamedTuple

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import PairType
from chainviz.core.usage.times import NO_TIMES, Times
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.content.pieces import Piece
from chainviz.store.outline.cache import visible_problems
from chainviz.store.outline.measures import OPENING, Counts, add_counts, subtract_counts
from chainviz.store.outline.reader import OutlineReader, RowPlace, SectionPlace
from chainviz.store.outline.rows import Kind, unpack_problem
from chainviz.store.outline.rules.section_rules import SectionRules, counted

Direction = Literal["down", "up"]
SHOWN = 2
"""The number of messages of a pair whose shapes a closed row may show."""
MOST = 500
"""The most rows of a window."""
FEWEST = 3
"""The fewest pairs of a section whose run is folded, because a run of one pair would save no row."""
MOST_SECTIONS = 512
"""The most sections of a chain whose rows above a window are counted. In longer chains their number is estimated."""


@dataclass(frozen=True, slots=True)
class Folds:
    """The open sections (all or none, with exceptions), and whether their runs of pairs are folded.

    A run is all pairs of a section except the last, between the request and the answer. A folded run is one row.
    """

    open: bool = True
    exceptions: frozenset[int] = frozenset()
    runs_folded: bool = False
    shown: frozenset[Path] = frozenset()
    """Pairs that must have their own row, so that their run is not folded."""
    fewest: int = FEWEST
    """The fewest pairs of a section whose run is folded."""

    def is_open(self, section: int) -> bool:
        return self.open != (section in self.exceptions)


ALL_OPEN, ALL_CLOSED = Folds(), Folds(open=False)


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A closed row of the page."""

    kind: Literal["section", "header", "pair", "run"]
    path: Path
    """The path of the row; for a run, the path of its first pair."""
    start: int
    """The index of its first message."""
    messages: int
    size: int
    counts: Counts
    """The number of problems of each severity, in the order of SEVERITIES, by provider ("" for the tree)."""
    type: PairType | None = None
    valid: bool = True
    has_ai: bool = True
    is_open: bool = True
    headers: int = 0
    """The number of header messages in a section."""
    header_size: int = 0
    pairs: int = 0
    """The number of pairs in a section or run."""
    invalid: int = 0
    """The number of invalid pairs in a section or run."""
    problems: tuple[Problem, ...] = ()
    """The problems of a header message or pair."""
    usage: Counts = field(default_factory=dict)
    """Recorded tokens by model."""
    times: Times = NO_TIMES
    """The recorded times of the row, if any."""
    tools: Mapping[str, int] = field(default_factory=dict)
    """The number of calls of each tool in a run; 0 if they are too many to count (SectionRow.tools)."""
    shapes: tuple[StoredShape, ...] = ()
    """The first messages of the row, without bodies."""

    @property
    def first(self) -> StoredShape | None:
        return self.shapes[0] if self.shapes else None


@dataclass(frozen=True, slots=True)
class Window:
    rows: tuple[WindowRow, ...]
    up: Path | None
    """The start of the next window upwards; None at the top."""
    down: Path | None
    """The start of the next window downwards, the first row below; None at the end."""
    total: int
    """The number of messages in the chain, from which a page estimates the scroll bar."""
    folds: Folds = ALL_OPEN
    optional: int = 0
    """The number of rows at the beginning that a page leaves out first, if it has no room for all rows."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """A row to display: a section itself, one of its rows by number, or its folded run, which begins with that row."""

    section: SectionPlace
    row: int | None = None
    run: range = range(0)

    @property
    def path(self) -> Path:
        return Path(self.section.number) if self.row is None else self.section.path_of(self.row)


def window(
    chain: StoredChain, start: Path | None = None, direction: Direction = "down", count: int = 60, folds: Folds = ALL_OPEN
) -> Window:
    """Read a window: rows from `start` on for direction down, or rows before `start` for direction up, from top to bottom."""
    count = max(1, min(count, MOST))
    return windows_around(chain, start, (*((0, count) if direction == "down" else (count, 0)), folds))[0]


def windows_around(chain: StoredChain, start: Path | None, *wanted: tuple[int, int, Folds]) -> list[Window]:
    """Read windows of the rows at `start` with different folds, in one query. Each has the given number of rows before `start`, and
    the given number of rows from it on."""
    return _read_windows(chain, [_spots(chain, start, *each) for each in wanted])


class _Spots(NamedTuple):
    spots: list[_Spot]
    folds: Folds
    up: Path | None
    down: Path | None


def _spots(chain: StoredChain, start: Path | None, above: int, below: int, folds: Folds) -> _Spots:
    outline = chain.outline
    if not outline.listing.section_count:
        return _Spots([], folds, None, None)
    place = _clamp(outline, start, folds)
    before = list(islice(_upward(outline, place, folds, above + 1), above + 1))
    after = list(islice(_downward(outline, place, folds, below + 1), below + 1))
    spots = [*before[:above][::-1], *after[:below]]
    return _Spots(spots, folds, spots[0].path if before[above:] else None, after[below].path if after[below:] else None)


def _read_windows(chain: StoredChain, wanted: Sequence[_Spots]) -> list[Window]:
    total = chain.outline.listing.total.messages
    read = [_Reading(chain, each.spots) for each in wanted]
    chain.read([piece for each in read for piece in each.pieces])
    return [Window(_rows(chain, each, one.folds), one.up, one.down, total, one.folds) for one, each in zip(wanted, read, strict=True)]


def run_of(outline: OutlineReader, section: SectionPlace, folds: Folds) -> range:
    """Return the rows of an open section that are folded into one, counted in the whole chain; empty if none are."""
    measure = section.measure
    if not folds.runs_folded or measure.pairs < folds.fewest:
        return range(0)
    if any(path.section == section.number and 0 < (path.pair or 0) < measure.pairs for path in folds.shown):
        return range(0)
    first = section.before.rows
    return range(first + measure.headers, first + measure.rows - 1)


def folded_rows(outline: OutlineReader, folds: Folds, stop: int) -> int:
    """Count the rows that the folded runs of the sections before `stop` save; an estimate if there are many sections."""
    if not folds.runs_folded:
        return 0
    if folds.open and stop > MOST_SECTIONS:
        pairs = (outline.section(stop).before if stop <= outline.listing.section_count else outline.listing.total).pairs
        return max(0, pairs - (FEWEST - 1) * (stop - 1))
    among = range(1, stop) if folds.open else sorted(number for number in folds.exceptions if number < stop)
    runs = (run_of(outline, outline.section(number), folds) for number in among if folds.is_open(number))
    return sum(len(run) - 1 for run in runs if run)


def _clamp(outline: OutlineReader, start: Path | None, folds: Folds) -> Path:
    """Return the row that shows `start`. In a closed section, it is the row of the section."""
    if start is None:
        return Path(1)
    section = outline.section(start.section)
    if start.pair is None or not folds.is_open(start.section):
        return Path(start.section)
    row, run = section.row_of(start), run_of(outline, section, folds)
    return section.path_of(run.start if row in run else row)


def _single_rows(run: range, low: int, stop: int) -> tuple[range, range]:
    """Return the rows of `low:stop` that are displayed one by one: those up to the first row of the run, and those after the run."""
    return (range(low, min(stop, run.start + 1)), range(max(low, run.stop), stop)) if run else (range(low, stop), range(0))


def _downward(outline: OutlineReader, start: Path, folds: Folds, count: int) -> Iterator[_Spot]:
    # each section gives at least one row, so no more sections than rows are needed
    for section in outline.sections(start.section, start.section + count):
        begins_here = section.number == start.section and start.pair is not None
        if not begins_here:
            yield _Spot(section)
        if folds.is_open(section.number):
            first = section.row_of(start) if begins_here else section.before.rows
            run = run_of(outline, section, folds)
            for row in chained(*_single_rows(run, first, section.before.rows + section.measure.rows)):
                yield _Spot(section, row, run if row in run else range(0))


def _upward(outline: OutlineReader, start: Path, folds: Folds, count: int) -> Iterator[_Spot]:
    first = max(1, start.section - count)
    for section in reversed(list(outline.sections(first, start.section + 1))):
        begins_here = section.number == start.section
        if begins_here and start.pair is None:
            continue
        if folds.is_open(section.number):
            stop = section.row_of(start) if begins_here else section.before.rows + section.measure.rows
            run = run_of(outline, section, folds)
            above, below = _single_rows(run, section.before.rows, stop)
            for row in chained(reversed(below), reversed(above)):
                yield _Spot(section, row, run if row in run else range(0))
        yield _Spot(section)


class _Reading:
    """The blocks, places and pieces from which the rows of a window are made."""

    def __init__(self, chain: StoredChain, spots: list[_Spot]) -> None:
        self.spots = spots
        # read the blocks at both ends of each run's section together with the others
        ends = (row for spot in spots if spot.run for row in (spot.section.before.rows, spot.run.stop))
        self.places = chain.outline.rows((*(spot.row for spot in spots if spot.row is not None), *ends))
        self.wanted = [_first_pieces(spot, self.places) for spot in spots]
        # a page shows the section's row above a window that begins inside the section; read it without another query
        ahead = [spots[0].section.section.first] if len(spots) > 1 else []
        self.pieces = [*ahead, *(piece for pieces in self.wanted for piece in pieces)]


def _rows(chain: StoredChain, reading: _Reading, folds: Folds) -> tuple[WindowRow, ...]:
    outline, places = chain.outline, reading.places
    sections = outline.listing.section_count
    by_section = SectionRules(outline, chain.format)
    shown = []
    for spot, pieces in zip(reading.spots, reading.wanted, strict=True):
        shapes = tuple(row.shape for row in chain.read(pieces))
        if spot.row is None:
            row = _section_row(spot.section, shapes, folds, sections)
            shown.append(replace(row, counts=add_counts(row.counts, by_section.counts(spot.section))))
        elif spot.run:
            shown.append(_run_row(spot, outline, places))
        else:
            row = _row(spot.path, places[spot.row], shapes, sections)
            found = tuple(by_section.of_row(spot.section, spot.row, places[spot.row]))
            if found:
                row = replace(row, counts=add_counts(row.counts, counted(found)), problems=(*row.problems, *found))
            shown.append(row)
    return tuple(shown)


def _first_pieces(spot: _Spot, places: dict[int, RowPlace]) -> list[Piece]:
    if spot.row is None:
        return [spot.section.section.first]
    if spot.run:
        return []
    return list(places[spot.row].pieces(SHOWN))


def _section_row(place: SectionPlace, shapes: tuple[StoredShape, ...], folds: Folds, sections: int) -> WindowRow:
    measure = place.measure
    return WindowRow(
        "section",
        Path(place.number),
        place.start,
        measure.messages,
        measure.size,
        visible_problems(measure, sections),
        valid=not measure.invalid,
        is_open=folds.is_open(place.number),
        headers=measure.headers,
        header_size=measure.header_size,
        pairs=measure.pairs,
        invalid=measure.invalid,
        usage=measure.usage,
        times=measure.times,
        shapes=shapes,
    )


def _run_row(spot: _Spot, outline: OutlineReader, places: dict[int, RowPlace]) -> WindowRow:
    """Return the row of a folded run, which is its section without the header and the last pair."""
    section, last = spot.section.measure, places[spot.run.stop].row
    header = outline.measure_between(spot.section.before.rows, spot.run.start)
    others = add_counts(header.problems, last.measure.problems)
    tools = {name: calls - last.tools.get(name, 0) if calls else 0 for name, calls in spot.section.section.tools.items()}
    return WindowRow(
        "run",
        spot.path,
        places[spot.run.start].start,
        section.messages - header.messages - last.messages,
        section.size - header.size - last.size,
        visible_problems(section._replace(problems=subtract_counts(section.problems, others)), outline.listing.section_count),
        valid=section.invalid == (not last.valid),
        is_open=False,
        pairs=len(spot.run),
        invalid=section.invalid - (not last.valid),
        tools={name: calls for name, calls in tools.items() if calls or not spot.section.section.tools[name]},
    )


def _row(path: Path, place: RowPlace, shapes: tuple[StoredShape, ...], sections: int) -> WindowRow:
    row = place.row
    return WindowRow(
        "header" if row.kind.is_header else "pair",
        path,
        place.start,
        row.messages,
        row.size,
        visible_problems(row.measure, sections),
        type=row.kind.pair_type,
        valid=row.valid,
        has_ai=row.kind is not Kind.NO_AI,
        problems=row_problems(path, place, sections),
        usage=row.usage,
        times=Times(row.began, row.ended),
        shapes=shapes,
    )


def row_problems(path: Path, place: RowPlace, sections: int) -> tuple[Problem, ...]:
    return tuple(
        unpack_problem(packed, place.row.kind, path, place.start) for packed in place.row.problems if sections > 1 or packed[5] != OPENING
    )
