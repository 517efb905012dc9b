"""Draw a simulation: a line for each strategy, with a mark wherever it fired. A long run is drawn in buckets of turns."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chainviz.core.counts import count_text
from chainviz.core.usage.model_catalog import BYTES_PER_TOKEN
from chainviz.drafts.simulation.run import PLAIN, REDACT, SUMMARIZE, LineRan, SimulationRan, Unit

MOST = 120
"""The most points of a line. More turns are drawn in buckets, each with its largest request."""
WIDTH, HEIGHT = 1000, 320
LEFT, RIGHT, TOP, BOTTOM = 110, 150, 14, 34
STEPS = 5
"""The most lines of the grid."""
NUMBERED = 16
"""The most numbered turns."""
APART = 14
"""The distance between two names at the ends of lines."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """The turns `start:stop`, counted from 0."""

    start: int
    stop: int

    @property
    def name(self) -> str:
        first, last = self.start + 1, self.stop
        return f"{first:,}" if first == last else f"{first:,} to {last:,}"


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """The mark of a compaction."""

    x: float
    y: float
    title: str


@dataclass(frozen=True, slots=True)
class Drawn:
    key: str
    name: str
    points: str
    marks: tuple[Mark, ...]
    too_large: tuple[Mark, ...]
    """Marks for requests larger than the context window, on the line without compaction."""
    end: float
    """The height at which its name is drawn."""
    last: str


@dataclass(frozen=True, slots=True)
class Hit:
    """The column of a bucket: a link that chooses its last turn."""

    x: float
    width: float
    turn: int
    title: str
    is_chosen: bool


@dataclass(frozen=True)
class Chart:
    ran: SimulationRan
    unit: Unit
    window: int
    """The context window in tokens; 0 draws none. It is not drawn for the unit messages."""
    turn: int
    """The chosen turn, from 0."""

    width, height, left, top = WIDTH, HEIGHT, LEFT, TOP
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    plot, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    @property
    def over(self) -> float:
        """The height of the area above the context window."""
        return self.window_at - self.top

    @cached_property
    def buckets(self) -> tuple[Bucket, ...]:
        each, turns = self._turns_each, self.ran.turns
        return tuple(Bucket(start, min(start + each, turns)) for start in range(0, turns, each))

    def value(self, line: LineRan, bucket: Bucket) -> int:
        """Return the size of the largest request in a bucket, in the unit of the chart."""
        return max(self.values[line.key][bucket.start : bucket.stop])

    @property
    def _turns_each(self) -> int:
        """Turns of a bucket."""
        return max(1, -(-self.ran.turns // MOST))

    @cached_property
    def removed(self) -> dict[str, list[int]]:
        """The number of messages that each line, by its key, removed after the turns of each bucket."""
        found = {line.key: [0] * len(self.buckets) for line in self.ran.lines}
        for line in self.ran.lines:
            for turn, removed in zip(line.fired, line.removed, strict=True):
                found[line.key][turn // self._turns_each] += removed
        return found

    @cached_property
    def values(self) -> dict[str, tuple[int, ...]]:
        """The size of each turn's request in the unit, for each line by its key."""
        return {line.key: line.values(self.unit) for line in self.ran.lines}

    @cached_property
    def largest(self) -> int:
        top = max((max(values, default=0) for values in self.values.values()), default=0)
        # a window far above every request would flatten the lines
        return max(1, top, self.limit if self.limit <= 2 * top else 0)

    @property
    def limit(self) -> int:
        """The context window in the unit."""
        return {"tokens": self.window, "bytes": self.window * BYTES_PER_TOKEN, "messages": 0}[self.unit]

    @property
    def has_window(self) -> bool:
        return 0 < self.limit <= self.largest

    @property
    def window_at(self) -> float:
        return self._y(self.limit)

    def ticks(self) -> Iterator[Tick]:
        step = _round_step(self.largest / STEPS)
        for number in range(int(self.largest // step) + 1):
            yield Tick(self._y(number * step), _short(number * step))

    def numbers(self) -> Iterator[Tick]:
        buckets = self.buckets
        each = max(1, -(-len(buckets) // NUMBERED))
        for place in range(0, len(buckets), each):
            yield Tick(self.x(place), f"{buckets[place].stop:,}")

    def drawn(self) -> tuple[Drawn, ...]:
        buckets = self.buckets
        lines = [(line, [self.value(line, bucket) for bucket in buckets]) for line in self.ran.lines]
        ends = _apart([self._y(values[-1]) for _, values in lines])
        return tuple(self._line(line, values, end) for (line, values), end in zip(lines, ends, strict=True))

    def _line(self, line: LineRan, values: Sequence[int], end: float) -> Drawn:
        points = " ".join(f"{self.x(place):.1f},{self._y(value):.1f}" for place, value in enumerate(values))
        over = tuple(self._over(line, values)) if line.key == PLAIN else ()
        return Drawn(line.key, line.name, points, tuple(self._marks(line, values)), over, end, f"{values[-1]:,}")

    def _over(self, line: LineRan, values: Sequence[int]) -> Iterator[Mark]:
        too_large = line.turns_over(self.window)
        for place, bucket in enumerate(self.buckets):
            if bisect_left(too_large, bucket.start) < bisect_left(too_large, bucket.stop):
                yield Mark(self.x(place), self._y(values[place]), f"Turn {bucket.name}: larger than the context window")

    def _marks(self, line: LineRan, values: Sequence[int]) -> Iterator[Mark]:
        for place, bucket in enumerate(self.buckets):
            removed = self.removed[line.key][place]
            if removed:
                words = f"{line.name}: {count_text(removed, 'message')} removed after turn {bucket.name}"
                yield Mark(self.x(place), self._y(values[place]), words)

    def hits(self) -> Iterator[Hit]:
        buckets = self.buckets
        width = self.width_of_bucket
        for place, bucket in enumerate(buckets):
            x = self.x(place) - width / 2
            yield Hit(x, width, bucket.stop, f"Turn {bucket.name}", bucket.start <= self.turn < bucket.stop)

    @property
    def width_of_bucket(self) -> float:
        return (self.right - self.left) / max(1, len(self.buckets))

    def x(self, place: int) -> float:
        """The middle of a bucket."""
        return round(self.left + self.width_of_bucket * (place + 0.5), 1)

    def _y(self, value: float) -> float:
        return round(self.bottom - (self.bottom - self.top) * value / self.largest, 1)


def _round_step(rough: float) -> int:
    """Return the smallest number that is 1, 2 or 5 times a power of ten and at least as large."""
    power = 1
    while power * 10 <= rough:
        power *= 10
    return next((power * each for each in (1, 2, 5) if power * each >= rough), power * 10)


def _short(number: int) -> str:
    for unit, size in (("M", 1_000_000), ("k", 1_000)):
        if number >= size:
            return f"{number / size:g}{unit}"
    return str(number)


def _apart(ends: Sequence[float]) -> list[float]:
    """Return the heights, moved apart so that names do not overlap."""
    placed = dict.fromkeys(range(len(ends)), 0.0)
    above = -APART * 1.0
    for place in sorted(placed, key=lambda place: ends[place]):
        above = max(ends[place], above + 2 * APART)
        placed[place] = above
    over = max(0.0, above + APART - HEIGHT)
    return [round(placed[place] - over, 1) for place in range(len(ends))]


# Rows of cells below the chart, with one cell for each bucket: the turns after which a strategy compacted, and the earlier turns that the
# request of the chosen turn still contains.


LANE_HEIGHT, LANE_APART = 18, 24
"""The height of a cell, and the distance between rows."""
GAP = 2
FADED = {SUMMARIZE: ("summarized", "as a summary"), REDACT: ("redacted", "without tool results")}
GONE = ("removed", "removed")
WHOLE = ("whole", "whole")


@dataclass(frozen=True, slots=True)
class Cell:
    x: float
    width: float
    kind: str
    """fired, whole, summarized, redacted or removed."""
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    key: str
    name: str
    y: int
    cells: tuple[Cell, ...]
    said: str
    """At its end."""

    @property
    def text_y(self) -> int:
        return self.y + LANE_HEIGHT // 2


@dataclass(frozen=True)
class Lanes:
    chart: Chart

    @cached_property
    def fired(self) -> tuple[Lane, ...]:
        lines = [line for line in self.chart.ran.lines if line.is_strategy]
        return tuple(self._fired(line, number * LANE_APART) for number, line in enumerate(lines))

    @cached_property
    def seen(self) -> tuple[Lane, ...]:
        return tuple(self._seen(line, number * LANE_APART) for number, line in enumerate(self.chart.ran.lines))

    @property
    def fired_height(self) -> int:
        return len(self.fired) * LANE_APART

    @property
    def seen_height(self) -> int:
        return len(self.chart.ran.lines) * LANE_APART

    def _fired(self, line: LineRan, y: int) -> Lane:
        cells = tuple(self._cells_fired(line))
        removed = sum(self.chart.removed[line.key])
        return Lane(line.key, line.name, y, cells, f"−{count_text(removed, 'message')} in all" if removed else "never")

    def _cells_fired(self, line: LineRan) -> Iterator[Cell]:
        for place, bucket in enumerate(self.chart.buckets):
            removed = self.chart.removed[line.key][place]
            if removed:
                title = f"{line.name}: {count_text(removed, 'message')} removed after turn {bucket.name}"
                yield self._cell(place, "fired", title, f"−{removed:,}" if len(self.chart.buckets) <= 32 else "")

    def _seen(self, line: LineRan, y: int) -> Lane:
        turn = self.chart.turn
        whole = min(line.whole[turn], turn)
        buckets = enumerate(self.chart.buckets)
        cells = tuple(self._cell_seen(line, place, bucket, whole) for place, bucket in buckets if bucket.start <= turn)
        kind, _ = FADED.get(line.key, GONE)
        gone = f", {whole:,} {kind}" if whole else ""
        return Lane(line.key, line.name, y, cells, f"{turn + 1 - whole:,} whole{gone}")

    def _cell_seen(self, line: LineRan, place: int, bucket: Bucket, whole: int) -> Cell:
        kind, word = FADED.get(line.key, GONE) if bucket.stop <= whole else WHOLE
        return self._cell(place, kind, f"{line.name}: turn {bucket.name} {word}")

    def _cell(self, place: int, kind: str, title: str, text: str = "") -> Cell:
        width = self.chart.width_of_bucket
        inner = max(1.0, width - 2 * GAP)
        return Cell(round(self.chart.x(place) - inner / 2, 1), round(inner, 1), kind, title, text)
