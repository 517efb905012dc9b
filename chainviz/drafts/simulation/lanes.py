"""Rows of cells below the chart, one cell a bucket of turns: after which turns a strategy fired, and what the request of the
chosen turn still holds of the turns before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from chainviz.chains.render.numbers import count_text
from chainviz.drafts.simulation.chart import Bucket, Chart
from chainviz.drafts.simulation.run import REDACT, SUMMARIZE, LineRan

HEIGHT, APART = 18, 24
"""Units of a cell, and from one row to the next."""
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
        return self.y + HEIGHT // 2


@dataclass(frozen=True)
class Lanes:
    chart: Chart

    @cached_property
    def fired(self) -> tuple[Lane, ...]:
        lines = [line for line in self.chart.ran.lines if line.is_strategy]
        return tuple(self._fired(line, number * APART) for number, line in enumerate(lines))

    @cached_property
    def seen(self) -> tuple[Lane, ...]:
        return tuple(self._seen(line, number * APART) for number, line in enumerate(self.chart.ran.lines))

    @property
    def fired_height(self) -> int:
        return len(self.fired) * APART

    @property
    def seen_height(self) -> int:
        return len(self.chart.ran.lines) * APART

    def _fired(self, line: LineRan, y: int) -> Lane:
        cells = tuple(self._cells_fired(line))
        removed = sum(self.chart.removed[line.key])
        return Lane(line.key, line.name, y, cells, f"−{count_text(removed, 'message')}" if removed else "never")

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
