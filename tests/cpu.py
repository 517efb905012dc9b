"""CPU time for limits on cost: each figure is compared with another one of the same run, never with a clock alone."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from typing import TypeVar

RUNS = 3
Result = TypeVar("Result")
REFERENCE = json.dumps([{"role": "user", "content": f"text {n}"} for n in range(4_000)])
REFERENCE_SECONDS = 0.01
"""What `reference` takes on the computer whose seconds the tests name."""


def cpu_seconds(work: Callable[[], object]) -> float:
    """The best of several runs, since noise only ever adds; for ratios of two figures of the same run."""
    return min(_measured(work)[0] for _ in range(RUNS))


def within_cpu_seconds(limit: float, work: Callable[[], Result]) -> Result:
    """What `work` gives. One run within `limit` is enough; choose a limit of five usual figures or more.

    The limit is in seconds of a computer that needs `REFERENCE_SECONDS` for the reference work, which runs first.
    """
    spent = []
    for _ in range(RUNS):
        speed = _measured(reference)[0] / REFERENCE_SECONDS
        seconds, result = _measured(work)
        if seconds < limit * max(speed, 1):
            return result
        spent.append(seconds)
    raise AssertionError(f"{limit} s of CPU were allowed, these were needed: {spent}")


def reference() -> None:
    for message in json.loads(REFERENCE):
        message["size"] = len(json.dumps(message))


def _measured(work: Callable[[], Result]) -> tuple[float, Result]:
    """Of this thread alone, and without collections of garbage: those cost what the whole process holds."""
    gc.disable()
    try:
        start = time.thread_time()
        result = work()
        return time.thread_time() - start, result
    finally:
        gc.enable()
