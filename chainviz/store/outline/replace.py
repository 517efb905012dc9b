"""Replaces stretches of a sequence of blocks; blocks that are not touched stay as they are, shared with the old sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from chainviz.store.outline import blocks
from chainviz.store.outline.blocks import Entry, evenly

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Replacement(Generic[T]):
    """Items `start:stop` of the old sequence give way to `items`."""

    start: int
    stop: int
    items: list[T]


def replace_items(
    entries: Sequence[Entry],
    replacements: Sequence[Replacement[T]],
    loosen: Callable[[Entry], list[T]],
    pack: Callable[[Sequence[T]], Entry],
) -> tuple[Entry, ...]:
    """The new sequence. Replacements come in order and do not overlap."""
    return _Sequence(loosen, pack).replace(entries, replacements)


class _Sequence(Generic[T]):
    def __init__(self, loosen: Callable[[Entry], list[T]], pack: Callable[[Sequence[T]], Entry]) -> None:
        self._loosen = loosen
        self._pack = pack
        self._done: list[Entry] = []
        self._loose: list[T] = []
        """Items after the entries that are done, in no block yet."""

    def replace(self, entries: Sequence[Entry], replacements: Sequence[Replacement[T]]) -> tuple[Entry, ...]:
        waiting = list(reversed(replacements))
        place = 0
        for entry in entries:
            start, place = place, place + entry.count
            if not waiting or waiting[-1].start >= place:
                self._whole(entry)
                continue
            items = self._loosen(entry)
            kept = start
            while waiting and waiting[-1].start < place:
                one = waiting[-1]
                if one.start >= start:
                    self._loose += items[kept - start : one.start - start]
                    self._loose += one.items
                kept = min(one.stop, place)
                if one.stop > place:
                    break
                waiting.pop()
            self._loose += items[kept - start :]
        for one in reversed(waiting):
            # only an insertion behind the last item has not begun yet
            self._loose += one.items if one.start >= place else []
        self._close(last=True)
        return tuple(self._done)

    def _whole(self, entry: Entry) -> None:
        """An untouched block; it is opened only to take in what is too little for a block of its own."""
        if self._loose and len(self._loose) < blocks.BLOCK // 4:
            self._loose += self._loosen(entry)
            return
        self._close(last=False)
        self._done.append(entry)

    def _close(self, last: bool) -> None:
        if last and self._done and 0 < len(self._loose) < blocks.BLOCK // 4:
            self._loose[:0] = self._loosen(self._done.pop())
        self._done += [self._pack(self._loose[low:high]) for low, high in evenly(len(self._loose))]
        self._loose = []
