"""Align two sequences of keys with the fewest changes. Knows nothing of chains or texts.

Bit-parallel LCS (rapidfuzz's Indel) is always fast, but needs length × length bits. Sequences beyond CELLS are therefore cut at keys
that occur once in both, and pieces that are still too long are compared block by block.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz.distance import Indel

CELLS = 100_000_000
"""The largest comparison in one piece: 10,000 × 10,000 keys, which takes 12 MB and about 10 ms."""
BLOCK = 10_000


class Equal(NamedTuple):
    """`old[old:old+length] == new[new:new+length]`."""

    old: int
    new: int
    length: int


class Gap(NamedTuple):
    """The part between two equal ranges; one side may be empty."""

    old_start: int
    old_stop: int
    new_start: int
    new_stop: int


Compare = Callable[[list[int], list[int], Gap, list[Equal]], bool]


@dataclass(frozen=True, slots=True)
class Alignment:
    equal: tuple[Equal, ...]
    """Equal ranges in order. Two ranges never touch on both sides."""
    old_length: int
    new_length: int
    coarse: bool = False
    """The sequences were too long to find the fewest changes. The equal ranges are correct, but there may be more."""

    def steps(self) -> Iterator[Equal | Gap]:
        """Yield the equal ranges and the gaps between them, in order. Together they cover both sequences."""
        old = new = 0
        for stretch in (*self.equal, Equal(self.old_length, self.new_length, 0)):
            if stretch.old > old or stretch.new > new:
                yield Gap(old, stretch.old, new, stretch.new)
            if stretch.length:
                yield stretch
            old, new = stretch.old + stretch.length, stretch.new + stretch.length

    def gaps(self) -> list[Gap]:
        return [step for step in self.steps() if isinstance(step, Gap)]


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> Alignment:
    """Return the equal ranges of two sequences. Items are the same if their keys are equal."""
    numbers: dict[Hashable, int] = {}
    a = [numbers.setdefault(key, len(numbers)) for key in old]
    b = [numbers.setdefault(key, len(numbers)) for key in new]
    found: list[Equal] = []
    coarse = _align(a, b, Gap(0, len(a), 0, len(b)), found)
    return Alignment(tuple(_joined(found)), len(a), len(b), coarse)


def _align(a: list[int], b: list[int], gap: Gap, found: list[Equal]) -> bool:
    """Append the equal ranges inside `gap` to `found`, in order. Return True if more may exist."""
    return _compared(a, b, gap, found, _divided)


def _compared(a: list[int], b: list[int], gap: Gap, found: list[Equal], too_long: Compare) -> bool:
    inner, head, tail = _trimmed(a, b, gap)
    found.append(head)
    width, height = inner.old_stop - inner.old_start, inner.new_stop - inner.new_start
    coarse = False
    if width * height > CELLS:
        coarse = too_long(a, b, inner, found)
    elif width and height:
        _shortest(a, b, inner, found)
    found.append(tail)
    return coarse


def _trimmed(a: list[int], b: list[int], gap: Gap) -> tuple[Gap, Equal, Equal]:
    """Return the gap without its equal beginning and end, and these two ranges."""
    old, old_stop, new, new_stop = gap
    while old < old_stop and new < new_stop and a[old] == b[new]:
        old, new = old + 1, new + 1
    while old < old_stop and new < new_stop and a[old_stop - 1] == b[new_stop - 1]:
        old_stop, new_stop = old_stop - 1, new_stop - 1
    head = Equal(gap.old_start, gap.new_start, old - gap.old_start)
    return Gap(old, old_stop, new, new_stop), head, Equal(old_stop, new_stop, gap.old_stop - old_stop)


def _shortest(a: list[int], b: list[int], gap: Gap, found: list[Equal]) -> None:
    edits = Indel.editops(a[gap.old_start : gap.old_stop], b[gap.new_start : gap.new_stop])
    for block in edits.as_matching_blocks():
        found.append(Equal(gap.old_start + block.a, gap.new_start + block.b, block.size))


def _divided(a: list[int], b: list[int], gap: Gap, found: list[Equal]) -> bool:
    """Cut a gap that is too long at its unique keys. Parts that are still too long are compared block by block."""
    return _between(a, b, gap, _anchors(a, b, gap), found)


def _between(a: list[int], b: list[int], gap: Gap, cuts: list[tuple[int, int]], found: list[Equal]) -> bool:
    coarse = False
    old, new = gap.old_start, gap.new_start
    for old_cut, new_cut in (*cuts, (gap.old_stop, gap.new_stop)):
        coarse |= _compared(a, b, Gap(old, old_cut, new, new_cut), found, _block_by_block)
        old, new = old_cut, new_cut
    return coarse


def _block_by_block(a: list[int], b: list[int], gap: Gap, found: list[Equal]) -> bool:
    width, height = gap.old_stop - gap.old_start, gap.new_stop - gap.new_start
    count = -(-max(width, height) // BLOCK)
    cuts = [(gap.old_start + width * i // count, gap.new_start + height * i // count) for i in range(count + 1)]
    for (old, new), (old_cut, new_cut) in pairwise(cuts):
        inner, head, tail = _trimmed(a, b, Gap(old, old_cut, new, new_cut))
        found.append(head)
        _shortest(a, b, inner, found)
        found.append(tail)
    return True


def _anchors(a: list[int], b: list[int], gap: Gap) -> list[tuple[int, int]]:
    """Return the indexes of keys that occur once on each side: their longest increasing sequence (patience diff)."""
    olds, news = a[gap.old_start : gap.old_stop], b[gap.new_start : gap.new_stop]
    once_old, once_new = Counter(olds), Counter(news)
    places = {key: gap.new_start + i for i, key in enumerate(news) if once_new[key] == 1}
    pairs = [(gap.old_start + i, places[key]) for i, key in enumerate(olds) if once_old[key] == 1 and key in places]
    return _longest_rise(pairs)


def _longest_rise(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for i, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            last.append(i)
        else:
            ends[length], last[length] = place, i
    chosen: list[tuple[int, int]] = []
    i = last[-1] if last else -1
    while i >= 0:
        chosen.append(pairs[i])
        i = before[i]
    return chosen[::-1]


def _joined(found: list[Equal]) -> Iterator[Equal]:
    """Yield equal ranges without empty ones, and with neighbours that touch on both sides joined."""
    open_one: Equal | None = None
    for stretch in found:
        if not stretch.length:
            continue
        if open_one and open_one[:2] == (stretch.old - open_one.length, stretch.new - open_one.length):
            open_one = open_one._replace(length=open_one.length + stretch.length)
            continue
        if open_one:
            yield open_one
        open_one = stretch
    if open_one:
        yield open_one
