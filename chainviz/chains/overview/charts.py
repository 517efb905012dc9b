"""Charts with a bar for each day, drawn by the server: bars as SVG, each a link, and the table behind them.

Their HTML is written here, since a template takes five times as long.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

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


@dataclass(frozen=True, slots=True)
class ChartBar:
    bar: Bar
    url: str
    value: str
    """The total."""
    words: str
    """Its composition, for screen readers."""
    cells: tuple[str, ...]
    """The value of each series, for the table."""


@dataclass(frozen=True)
class ChartView:
    id: str
    title: str
    chart: Chart
    bars: tuple[ChartBar, ...]
    series: tuple[tuple[Series, str, str, str], ...]
    """Each series with its name for people, its total and its link."""
    marks: tuple[str, ...]
    total: str
    empty: str
    """Why there is nothing to show."""

    @cached_property
    def svg(self) -> SafeString:
        return _svg(self)

    @cached_property
    def table(self) -> SafeString:
        return _table_html(self)


def _svg(view: ChartView) -> SafeString:
    width, label = view.chart.width, escape(f"{view.title} per {view.chart.unit}")
    lines = "".join(f"M0 {top}H{width}" for top in (0, HEIGHT // 4, HEIGHT // 2, 3 * HEIGHT // 4))
    bars = "".join(_bar_svg(place, each) for place, each in enumerate(view.bars))
    return mark_safe(
        f'<svg viewBox="0 0 {width} {HEIGHT}" preserveAspectRatio="none" role="group" aria-label="{label}">'
        f'<path class="grid" d="{lines}"/>{bars}<path class="base" d="M0 {HEIGHT}H{width}"/></svg>'
    )


def _bar_svg(place: int, each: ChartBar) -> str:
    words = escape(each.words)
    pieces = "".join(
        f'<rect data-series="{piece.series}" x="{each.bar.left}" y="{piece.top}" width="{BAR}" height="{piece.height}"/>'
        for piece in each.bar.pieces
    )
    return (
        f'<a href="{escape(each.url)}" aria-label="{words}" data-words="{words}">'
        f'<rect class="hit" x="{place * WIDTH}" y="0" width="{WIDTH}" height="{HEIGHT}"/>{pieces}</a>'
    )


def _table_html(view: ChartView) -> SafeString:
    names = "".join(f'<th scope="col" class="of-number">{escape(name)}</th>' for _, name, _, _ in view.series)
    rows = "".join(
        f'<tr><th scope="row"><a href="{escape(each.url)}">{escape(each.bar.name)}</a></th>'
        f"{''.join(_number(cell) for cell in each.cells)}{_number(each.value)}</tr>"
        for each in view.bars
    )
    head = f'<th scope="col">{view.chart.unit.capitalize()}</th>{names}<th scope="col" class="of-number">All</th>'
    return mark_safe(f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')


def _number(text: str) -> str:
    return f'<td class="of-number">{escape(text)}</td>'
