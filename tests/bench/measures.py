"""Clocks, slopes and tables of the bench."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Cost:
    cpu: float
    """Seconds."""
    wall: float
    result: Any


def cost(work: Callable[[], Any]) -> Cost:
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return Cost(time.process_time() - cpu, time.perf_counter() - wall, result)


def median_cpu(work: Callable[[], Any], times: int = 9) -> float:
    """Seconds of CPU, after one run that fills caches."""
    work()
    return statistics.median(cost(work).cpu for _ in range(times))


def peak_megabytes() -> float:
    """Of this program; getrusage would count what its parent had."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def forget_peak() -> None:
    """Measure `peak_megabytes` from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def slope(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Exponent of growth between the smallest and the largest size (log-log)."""
    return math.log(max(values[-1], 1e-9) / max(values[0], 1e-9)) / math.log(sizes[-1] / sizes[0])


TABLES: list[dict[str, Any]] = []
"""All tables of this run, for the JSON file."""


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    values = [list(row) for row in rows]
    TABLES.append({"title": title, "rows": [dict(zip(heads, row, strict=False)) for row in values]})
    lines = [list(map(str, heads)), *[list(map(_cell, row)) for row in values]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]
    print(f"\n{title}")
    for line in lines:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:.3g}" if isinstance(value, float) and abs(value) < 100 else f"{value:,.0f}"
