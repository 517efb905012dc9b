"""Report the progress of long work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
Progress = Callable[[float, str], None]
"""Receives the finished share, from 0 to 1, and a sentence. It raises an exception to cancel the work."""
EVERY = 1000
"""Messages between two reports, so that reporting costs little."""


def ignore_progress(share: float, text: str) -> None:
    pass


def counted(items: Iterable[T], count: int, progress: Progress, words: str) -> Iterator[T]:
    """Yield the items, `count` of them, and reports; `words` says what became of those before."""
    for done, item in enumerate(items):
        if done % EVERY == 0:
            progress(done / count, f"{done:,} of {count:,} messages {words}")
        yield item
