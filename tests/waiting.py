"""How long tests wait. Nothing fails because a busy machine is ten times slower, and what never comes is told soon enough."""

from __future__ import annotations

import time
from collections.abc import Callable

PROMPT = 10.0
"""Seconds for what is promised within one. Tests that measure with it let what they stop hang for `PATIENCE`."""
PATIENCE = 180.0
"""Seconds until what is waited for counts as missing."""


def wait_for(check: Callable[[], object], seconds: float = PATIENCE, *, tell: Callable[[], object] = lambda: "") -> None:
    """`tell` gives what the failure says about the state of things."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"not in {seconds} s: {tell()}"
        time.sleep(0.02)
