"""Windows of texts, each with a number, in 8 bytes each: a dictionary of them takes more than ten times that."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

_BITS = 28
MOST = 1 << _BITS
"""Numbers are below."""
_NUMBER = MOST - 1
_HASH = (1 << 64 - _BITS) - 1
"""The lowest bits of the hash of a window are kept: now and then they are those of another window, so what is found is checked."""
_SHELVES = 256


class WindowIndex:
    def __init__(self, windows: Iterable[tuple[str, int]]) -> None:
        """Takes windows and their numbers."""
        # many short arrays: sorting makes a list of one at a time
        shelves = [array("Q") for _ in range(_SHELVES)]
        for window, number in windows:
            key = hash(window) & _HASH
            shelves[key % _SHELVES].append(key << _BITS | number)
        for place, shelf in enumerate(shelves):
            shelves[place] = array("Q", sorted(shelf))
        self._shelves = shelves

    def __len__(self) -> int:
        return sum(map(len, self._shelves))

    def find(self, window: str) -> Sequence[int]:
        """Returns the numbers of the windows that are probably this one."""
        key = hash(window) & _HASH
        shelf = self._shelves[key % _SHELVES]
        start = bisect_left(shelf, key << _BITS)
        if start == len(shelf) or shelf[start] >> _BITS != key:
            return ()
        return [entry & _NUMBER for entry in shelf[start : bisect_left(shelf, key + 1 << _BITS, start)]]
