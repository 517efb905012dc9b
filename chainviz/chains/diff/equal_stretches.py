"""Stretches of messages that two snapshots take from the same place in the store: equal without reading them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chainviz.store.content.pieces import Piece

MOST_STRETCHES = 600
"""More common stretches than this are taken in order, without looking for the best choice among them."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    old: int
    new: int
    length: int


def equal_stretches(old: Sequence[Piece], new: Sequence[Piece]) -> list[tuple[int, int, int]]:
    """Stretches (old start, new start, length) that both lists take from the same place, rising on both sides."""
    found = sorted(_shared(old, new), key=lambda each: (each.new, each.old))
    chosen = _heaviest_rise(found) if len(found) <= MOST_STRETCHES else _in_order(found)
    return [(each.old, each.new, each.length) for each in chosen]


def _shared(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[_Stretch]:
    by_run: dict[int, list[tuple[int, int, int]]] = {}
    place = 0
    for run, start, length in old:
        by_run.setdefault(run, []).append((start, length, place))
        place += length
    for pieces in by_run.values():
        pieces.sort()
    place = 0
    for run, start, length in new:
        pieces = by_run.get(run, [])
        first = max(0, bisect_right(pieces, (start, 0, -1)) - 1)
        for begin, count, at in pieces[first:]:
            if begin >= start + length:
                break
            low, high = max(start, begin), min(start + length, begin + count)
            if low < high:
                yield _Stretch(at + low - begin, place + low - start, high - low)
        place += length


def _in_order(found: Sequence[_Stretch]) -> list[_Stretch]:
    chosen: list[_Stretch] = []
    for each in found:
        last = chosen[-1] if chosen else None
        if last is None or (each.old >= last.old + last.length and each.new >= last.new + last.length):
            chosen.append(each)
    return chosen


def _heaviest_rise(found: Sequence[_Stretch]) -> list[_Stretch]:
    """The stretches that rise on both sides and hold most messages."""
    best: list[tuple[int, int]] = []
    for i, each in enumerate(found):
        weight, before = 0, -1
        for k in range(i):
            other = found[k]
            fits = other.old + other.length <= each.old and other.new + other.length <= each.new
            if fits and best[k][0] > weight:
                weight, before = best[k][0], k
        best.append((weight + each.length, before))
    chosen: list[_Stretch] = []
    at = max(range(len(best)), key=lambda i: best[i][0], default=-1)
    while at >= 0:
        chosen.append(found[at])
        at = best[at][1]
    return chosen[::-1]
