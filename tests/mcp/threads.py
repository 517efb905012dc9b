"""Coroutines of the tests run in a thread of their own: a browser that another test left open keeps a loop in the main thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio


def run_in_thread(coroutine: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(anyio.run, coroutine).result()
