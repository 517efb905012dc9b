"""A chart as HTML: its bars as SVG, each a link, and the table behind it. Written here, since a template takes five times as long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from chainviz.chains.overview.charts import BAR, HEIGHT, WIDTH, Bar, Chart, Series


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
        return _table(self)


def _svg(view: ChartView) -> SafeString:
    width, label = view.chart.width, escape(f"{view.title} per {view.chart.unit}")
    lines = "".join(f"M0 {top}H{width}" for top in (0, HEIGHT // 4, HEIGHT // 2, 3 * HEIGHT // 4))
    bars = "".join(_bar(place, each) for place, each in enumerate(view.bars))
    return mark_safe(
        f'<svg viewBox="0 0 {width} {HEIGHT}" preserveAspectRatio="none" role="group" aria-label="{label}">'
        f'<path class="grid" d="{lines}"/>{bars}<path class="base" d="M0 {HEIGHT}H{width}"/></svg>'
    )


def _bar(place: int, each: ChartBar) -> str:
    words = escape(each.words)
    pieces = "".join(
        f'<rect data-series="{piece.series}" x="{each.bar.left}" y="{piece.top}" width="{BAR}" height="{piece.height}"/>'
        for piece in each.bar.pieces
    )
    return (
        f'<a href="{escape(each.url)}" aria-label="{words}" data-words="{words}">'
        f'<rect class="hit" x="{place * WIDTH}" y="0" width="{WIDTH}" height="{HEIGHT}"/>{pieces}</a>'
    )


def _table(view: ChartView) -> SafeString:
    names = "".join(f'<th scope="col" class="of-number">{escape(name)}</th>' for _, name, _, _ in view.series)
    rows = "".join(
        f'<tr><th scope="row"><a href="{escape(each.url)}">{escape(each.bar.name)}</a></th>'
        f'{"".join(_number(cell) for cell in each.cells)}{_number(each.value)}</tr>'
        for each in view.bars
    )
    head = f'<th scope="col">{view.chart.unit.capitalize()}</th>{names}<th scope="col" class="of-number">All</th>'
    return mark_safe(f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>')


def _number(text: str) -> str:
    return f'<td class="of-number">{escape(text)}</td>'
