"""Charts with a bar for each day, drawn by the server: the parts of each bar and their positions."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

MOST_SERIES = 5
"""The most series with their own colours; the others are combined."""
OTHERS = "others"
MOST_BARS = 92
"""The most bars of days; a longer period has a bar a week or a month."""
WIDTH, BAR, HEIGHT = 10, 7, 100
STEPS = (1, 2, 4, 6, 8, 10)
"""The steps of a scale, which has four lines."""

Values = Mapping[tuple[date, str], int]
"""Values by day and series."""


@dataclass(frozen=True, slots=True)
class Piece:
    series: int
    """The number of the series from 1, as in the stylesheet."""
    value: int
    top: float
    height: float


@dataclass(frozen=True, slots=True)
class Bar:
    first: date
    last: date
    left: int
    total: int
    values: tuple[int, ...]
    """The value of each series."""
    pieces: tuple[Piece, ...]

    @property
    def name(self) -> str:
        return f"{self.first:%-d %b %Y}" if self.first == self.last else f"{self.first:%-d %b} – {self.last:%-d %b %Y}"


@dataclass(frozen=True, slots=True)
class Series:
    number: int
    name: str
    total: int


@dataclass(frozen=True)
class Chart:
    series: tuple[Series, ...]
    bars: tuple[Bar, ...]
    scale: int
    """The value of the full height."""
    unit: str = "day"
    """The period of a bar: a day, a week or a month."""

    @cached_property
    def total(self) -> int:
        return sum(bar.total for bar in self.bars)

    @property
    def width(self) -> int:
        return WIDTH * max(1, len(self.bars))

    @property
    def marks(self) -> tuple[int, ...]:
        """The values at the lines, the highest first."""
        return tuple(round(self.scale * share / 4) for share in (4, 3, 2, 1, 0))

    @property
    def dates(self) -> tuple[str, ...]:
        """Names for the axis: of the first and the last bar, and of three between them."""
        last = len(self.bars) - 1
        places = dict.fromkeys(round(last * share / 4) for share in range(5)) if last >= 0 else {}
        pattern = "%b %Y" if self.unit == "month" else "%-d %b"
        return tuple(self.bars[place].first.strftime(pattern) for place in places)


def chart(values: Values, begins: date, ends: date) -> Chart:
    sums: dict[str, int] = {}
    for (_, name), value in values.items():
        sums[name] = sums.get(name, 0) + value
    names = sorted((name for name, total in sums.items() if total), key=lambda name: (-sums[name], name))
    if len(names) > MOST_SERIES + 1:
        names[MOST_SERIES:] = [OTHERS]
    unit = _unit((ends - begins).days + 1)
    spans = _spans(begins, ends, unit)
    table = _table(values, spans, names)
    scale = _scale(max((sum(row) for row in table), default=0))
    bars = tuple(_bar(place, span, row, scale) for place, (span, row) in enumerate(zip(spans, table, strict=True)))
    columns = zip(*table, strict=True) if table else [() for _ in names]
    series = tuple(Series(number, name, sum(column)) for number, (name, column) in enumerate(zip(names, columns, strict=False), 1))
    return Chart(series, bars, scale, unit)


def _unit(days: int) -> str:
    return "day" if days <= MOST_BARS else "week" if days <= 7 * MOST_BARS else "month"


def _spans(begins: date, ends: date, unit: str) -> list[tuple[date, date]]:
    """Return the first and last day of each bar; weeks begin on Monday."""
    found, first = list[tuple[date, date]](), begins
    while first <= ends:
        last = first
        if unit == "week":
            last = first + timedelta(days=6 - first.weekday())
        elif unit == "month":
            last = (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
        found.append((first, min(last, ends)))
        first = last + timedelta(days=1)
    return found


def _table(values: Values, spans: Sequence[tuple[date, date]], names: Sequence[str]) -> list[list[int]]:
    """Return a row for each bar with a value for each series."""
    column = {name: place for place, name in enumerate(names)}
    starts = [first for first, _ in spans]
    table = [[0] * len(names) for _ in spans]
    for (day, name), value in values.items():
        place = bisect(starts, day) - 1
        if value and place >= 0:
            table[place][column.get(name, len(names) - 1)] += value
    return table


def _bar(place: int, span: tuple[date, date], row: Sequence[int], scale: int) -> Bar:
    pieces, top = list[Piece](), float(HEIGHT)
    for number, value in enumerate(row, 1):
        height = HEIGHT * value / scale
        top -= height
        if value:
            pieces.append(Piece(number, value, round(top, 2), round(height, 2)))
    left = place * WIDTH + (WIDTH - BAR) // 2
    return Bar(*span, left, sum(row), tuple(row), tuple(pieces))


def _scale(most: int) -> int:
    """Return a round number that is at least `most`, and at least 4."""
    power = 1
    while power * 10 < most:
        power *= 10
    return max(4, next(step * power for step in STEPS if step * power >= most))
