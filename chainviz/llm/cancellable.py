"""Runs one piece of asynchronous work so that it can be ended at any moment. Knows nothing of models."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
TICK = 0.1
FAREWELL = 0.5
"""Seconds for closing connections of work that was ended."""


def run_watched(work: Coroutine[Any, Any, T], *, seconds: float, look: Callable[[], None]) -> T:
    """The result of `work`; TimeoutError after `seconds`, whatever it hangs on.

    The event loop has a thread of its own: `look` is called now and then in the caller's, where a database may be used
    and where another loop may be running. What it raises ends the work.
    """
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
