"""Values that stay in memory for the next requests. A key names everything that its value depends on, so no value is out of date."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Clearable(Protocol):
    def cache_clear(self) -> None: ...


C = TypeVar("C", bound=Clearable)
_CACHES: list[Clearable] = []


def forgettable(cache: C) -> C:
    """Let `forget` clear a cache; a decorator for functions with `lru_cache`."""
    _CACHES.append(cache)
    return cache


def forget() -> None:
    """Clear the caches in memory, since nothing that is deleted for good may stay there."""
    for cache in _CACHES:
        cache.cache_clear()


class AtHand(Generic[T]):
    """The values that were used last, for all threads of a process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = Lock()
        forgettable(self)

    def get(self, key: Hashable) -> T | None:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def keep(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._held[key] = value
            self._held.move_to_end(key)
            if len(self._held) > self._most:
                self._held.popitem(last=False)

    def cache_clear(self) -> None:
        with self._lock:
            self._held.clear()
