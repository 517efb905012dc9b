"""A window of rows: sections, header messages and pairs as a flat list, from any path in either direction, under folds.

A window costs the same wherever it lies and however long the chain is: at most five queries, and two blocks of each
kind besides those in which folded runs begin and end. Closed sections are passed over without reading what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain as chained
from typing import Literal

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.tree import PairType
from chainviz.core.usage.recorded_times import NO_TIMES, Times
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_shapes import StoredShape
from chainviz.store.content.pieces import Piece
from chainviz.store.outline.cache import visible_problems
from chainviz.store.outline.measures import OPENING, Counts, Measure, add_counts
from chainviz.store.outline.reader import OutlineReader, RowPlace, SectionPlace
from chainviz.store.outline.rows import Kind, unpack_problem
from chainviz.store.outline.rules.section_rules import SectionRules, counted

Direction = Literal["down", "up"]
SHOWN = 2
"""Messages of a pair whose shapes a closed row may show."""
MOST = 500
"""Rows a window has at most."""
LONG = 60
"""Pairs of a section that are never folded into a run."""
MOST_SECTIONS = 512
"""In a chain of more sections no runs are folded: how many rows lie above a window could not be counted at the same cost."""


@dataclass(frozen=True, slots=True)
class Folds:
    """Which sections are open, all or none of them, with exceptions; and whether their long runs of pairs are folded.

    A run is all pairs of a long section but the last: what came between the request and the answer. Folded it is one row.
    """

    open: bool = True
    exceptions: frozenset[int] = frozenset()
    runs_folded: bool = False
    shown: frozenset[Path] = frozenset()
    """Pairs that must have a row of their own: the run that one lies in is open."""

    def is_open(self, section: int) -> bool:
        return self.open != (section in self.exceptions)


ALL_OPEN, ALL_CLOSED = Folds(), Folds(open=False)


@dataclass(frozen=True, slots=True)
class WindowRow:
    """A closed row of the page."""

    kind: Literal["section", "header", "pair", "run"]
    path: Path
    """Of a run, that of its first pair."""
    start: int
    """Its first message in the flat list."""
    messages: int
    size: int
    counts: Counts
    """Problems by provider ("" is the tree): how many of each severity, in the order of SEVERITIES."""
    type: PairType | None = None
    valid: bool = True
    has_ai: bool = True
    is_open: bool = True
    headers: int = 0
    """Header messages of a section."""
    header_size: int = 0
    pairs: int = 0
    """Of a section or run."""
    invalid: int = 0
    """Pairs of a section or run that are not valid."""
    problems: tuple[Problem, ...] = ()
    """Of a header message or pair."""
    usage: Counts = field(default_factory=dict)
    """Recorded tokens by model."""
    times: Times = NO_TIMES
    """Its time, where one is recorded."""
    shapes: tuple[StoredShape, ...] = ()
    """Its first messages, without bodies."""

    @property
    def first(self) -> StoredShape | None:
        return self.shapes[0] if self.shapes else None


@dataclass(frozen=True, slots=True)
class Window:
    rows: tuple[WindowRow, ...]
    up: Path | None
    """Where to go on upwards (`from` for direction up), None at the top."""
    down: Path | None
    """Where to go on downwards (the first row below), None at the end."""
    total: int
    """Messages of the chain; with the rows' starts enough to estimate a scroll bar."""
    optional: int = 0
    """So many rows at its beginning are left out first where a page has no room for all."""


@dataclass(frozen=True, slots=True)
class _Spot:
    """A row to be shown: a section itself, one of its rows by number, or its folded run, which begins with that row."""

    section: SectionPlace
    row: int | None = None
    run: range = range(0)

    @property
    def path(self) -> Path:
        return Path(self.section.number) if self.row is None else self.section.path_of(self.row)


def window(
    chain: StoredChain,
    start: Path | None = None,
    direction: Direction = "down",
    count: int = 60,
    folds: Folds = ALL_OPEN,
) -> Window:
    """Down: rows from `start` on, with it. Up: rows before `start`, without it, still from top to bottom."""
    count = max(1, min(count, MOST))
    return window_around(chain, start, *((0, count) if direction == "down" else (count, 0)), folds)


def window_around(chain: StoredChain, start: Path | None, above: int, below: int, folds: Folds = ALL_OPEN) -> Window:
    """So many rows before `start`, and so many from it on."""
    outline = chain.outline
    total = outline.listing.total.messages
    if not outline.listing.section_count:
        return Window((), None, None, total)
    place = _clamp(outline, start, folds)
    before = _take(_upward(outline, place, folds, above + 1), above + 1)
    after = _take(_downward(outline, place, folds, below + 1), below + 1)
    shown = [*before[:above][::-1], *after[:below]]
    up = shown[0].path if before[above:] else None
    down = after[below].path if after[below:] else None
    return Window(_rows(chain, shown, folds), up, down, total)


def run_of(outline: OutlineReader, section: SectionPlace, folds: Folds) -> range:
    """The rows of an open section that are shown as one, counted in the whole chain; empty where none are."""
    measure = section.measure
    if not folds.runs_folded or measure.pairs <= LONG or outline.listing.section_count > MOST_SECTIONS:
        return range(0)
    if any(path.section == section.number and 0 < (path.pair or 0) < measure.pairs for path in folds.shown):
        return range(0)
    first = section.before.rows
    return range(first + measure.headers, first + measure.rows - 1)


def folded_rows(outline: OutlineReader, folds: Folds, stop: int) -> int:
    """How many rows the folded runs of the sections before `stop` save."""
    if not folds.runs_folded or outline.listing.section_count > MOST_SECTIONS:
        return 0
    runs = (run_of(outline, each, folds) for each in outline.sections(1, stop) if folds.is_open(each.number))
    return sum(len(run) - 1 for run in runs if run)


def _take(spots: Iterator[_Spot], count: int) -> list[_Spot]:
    taken: list[_Spot] = []
    for spot in spots:
        taken.append(spot)
        if len(taken) == count:
            break
    return taken


def _clamp(outline: OutlineReader, start: Path | None, folds: Folds) -> Path:
    """The row that shows `start`: in a closed section that is the section's own."""
    if start is None:
        return Path(1)
    section = outline.section(start.section)
    if start.pair is None or not folds.is_open(start.section):
        return Path(start.section)
    row, run = section.row_of(start), run_of(outline, section, folds)
    return section.path_of(run.start if row in run else row)


def _shown(run: range, low: int, stop: int) -> tuple[range, range]:
    """Those of the rows `low:stop` that have a row of their own, up to the run's first and behind the run."""
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
            for row in chained(*_shown(run, first, section.before.rows + section.measure.rows)):
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
            above, below = _shown(run, section.before.rows, stop)
            for row in chained(reversed(below), reversed(above)):
                yield _Spot(section, row, run if row in run else range(0))
        yield _Spot(section)


def _rows(chain: StoredChain, spots: list[_Spot], folds: Folds) -> tuple[WindowRow, ...]:
    outline = chain.outline
    # the block that a run ends in comes with the others: its sum is then made without a query
    places = outline.rows(row for spot in spots if spot.row is not None for row in (spot.row, *spot.run[-1:]))
    wanted = [_first_pieces(spot, places) for spot in spots]
    # pages show the section's own row above a window that begins in the middle of it: no query of its own for that
    ahead = [spots[0].section.section.first] if len(spots) > 1 else []
    rows = iter(chain.read([*ahead, *(piece for pieces in wanted for piece in pieces)])[len(ahead) :])
    sections = outline.listing.section_count
    by_section = SectionRules(outline, chain.format)
    shown = []
    for spot, pieces in zip(spots, wanted, strict=True):
        shapes = tuple(next(rows).shape for piece in pieces for _ in range(piece.length))
        if spot.row is None:
            row = _section_row(spot.section, shapes, folds, sections)
            shown.append(replace(row, counts=add_counts(row.counts, by_section.counts(spot.section))))
        elif spot.run:
            shown.append(_run_row(spot, places[spot.row].start, outline.measure_between(spot.run.start, spot.run.stop), sections))
        else:
            row = _row(spot.path, places[spot.row], shapes, sections)
            found = tuple(by_section.of_row(spot.section, spot.row, places[spot.row]))
            shown.append(replace(row, counts=add_counts(row.counts, counted(found)), problems=(*row.problems, *found)))
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


def _run_row(spot: _Spot, start: int, measure: Measure, sections: int) -> WindowRow:
    return WindowRow(
        "run",
        spot.path,
        start,
        measure.messages,
        measure.size,
        visible_problems(measure, sections),
        valid=not measure.invalid,
        is_open=False,
        pairs=measure.pairs,
        invalid=measure.invalid,
        usage=measure.usage,
        times=measure.times,
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
        unpack_problem(packed, place.row.kind, path, place.start)
        for packed in place.row.problems
        if sections > 1 or packed[5] != OPENING
    )
