"""CPU seconds for gates on time: they must hold on a slow or busy machine, at the end of a long run too."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import TypeVar

RUNS = 5
Result = TypeVar("Result")


def cpu_seconds(work: Callable[[], object]) -> float:
    """The best of several runs, since noise only ever adds; for ratios of two figures of the same run."""
    return min(_measured(work)[0] for _ in range(RUNS))


def within_cpu_seconds(limit: float, work: Callable[[], Result]) -> Result:
    """What `work` gives. One run below `limit` seconds of CPU is enough; choose a limit of five usual figures or more."""
    spent = []
    for _ in range(RUNS):
        seconds, result = _measured(work)
        if seconds < limit:
            return result
        spent.append(seconds)
    raise AssertionError(f"{limit} s of CPU were allowed, these were needed: {spent}")


def _measured(work: Callable[[], Result]) -> tuple[float, Result]:
    """Of this thread alone, and without collections of garbage: those cost what the whole process holds."""
    gc.collect()
    gc.disable()
    try:
        start = time.thread_time()
        result = work()
        return time.thread_time() - start, result
    finally:
        gc.enable()
