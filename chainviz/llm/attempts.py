"""Attempts to reach a model: each can be ended at any moment, and some are worth repeating. Loads no HTTP library."""

from __future__ import annotations

import asyncio
import contextlib
import math
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

T = TypeVar("T")
TICK = 0.1
FAREWELL = 0.5
"""The seconds for closing the connections of work that was stopped."""


def run_watched(work: Coroutine[Any, Any, T], *, seconds: float, look: Callable[[], None]) -> T:
    """Return the result of `work`. Raises TimeoutError after `seconds`, whatever it waits for. The event loop has its
    own thread. `look` is called now and then in the caller's thread, where a database may be used and another loop may
    be running. If it raises, the work ends."""
    end = time.monotonic() + seconds
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    thread = threading.Thread(target=_run, args=(loop, task), daemon=True, name="watched")
    thread.start()
    try:
        while _is_busy(thread, min(TICK, end - time.monotonic())):
            if time.monotonic() >= end:
                raise TimeoutError
            look()
        return task.result()
    finally:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is left to cancel
            loop.call_soon_threadsafe(task.cancel)
        thread.join(FAREWELL)


def _is_busy(thread: threading.Thread, seconds: float) -> bool:
    thread.join(max(seconds, 0.0))
    return thread.is_alive()


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    try:
        loop.run_until_complete(asyncio.wait({task}))
        if not task.cancelled():
            task.exception()  # seen, so that asyncio does not log it when nobody wants the result any more
    finally:
        # Not asyncio.run, which would wait for a name look-up that nobody can interrupt.
        loop.close()


def is_passing(status: int) -> bool:
    """Return True if the same request may be accepted a little later."""
    return status in {408, 429} or status >= 500


def seconds_to_wait(headers: Mapping[str, str], first_pause: float, attempt: int) -> float:
    """Return the seconds to wait: as long as the server asks, else the first pause, doubled at each attempt."""
    wanted = retry_after(headers)
    return first_pause * 2 ** (attempt - 1) if wanted is None else wanted


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that the server asks to wait, in any of the three spellings in use, or None if it names none."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
    except (ValueError, TypeError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0)
