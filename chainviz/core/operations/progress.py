"""Says how far a loop over the messages of a chain is, seldom enough that saying it costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
EVERY = 1000


def counted(items: Iterable[T], count: int, progress: Callable[[float, str], None], words: str) -> Iterator[T]:
    """The same items, `count` of them; `words` says what became of those before."""
    for done, item in enumerate(items):
        if done % EVERY == 0:
            progress(done / count, f"{done:,} of {count:,} messages {words}")
        yield item
