"""Which chains of a file are earlier states of another one: a log of requests holds a growing chain again in every request.

A chain stands here as a key for each of its beginnings, so that none is held in memory as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence

Beginnings = Sequence[int]
"""A key for the first message, for the first two, and so on: equal keys, equal messages up to there."""


def beginnings(messages: Iterable[Hashable]) -> Iterator[int]:
    key = 0
    for message in messages:
        key = hash((key, message))
        yield key


def final_states(chains: Sequence[Beginnings]) -> list[int]:
    """For each chain the place of the longest one that begins with it, which may be itself; of equal ones the first.
    A chain without messages stands for itself."""
    longest: dict[int, int] = {}
    for place, keys in enumerate(chains):
        for key in keys:
            if key not in longest or len(chains[longest[key]]) < len(keys):
                longest[key] = place
    return [longest[keys[-1]] if keys else place for place, keys in enumerate(chains)]


def earlier_states(finals: Sequence[int], lengths: Sequence[int | None]) -> list[tuple[int, ...]]:
    """For each chain the places of its earlier states, the shortest first; of equally long ones the first. `lengths` are
    numbers of messages, None for a chain that cannot be read."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    for place, (final, length) in enumerate(zip(finals, lengths, strict=True)):
        if length is not None and length != lengths[final]:
            found[final].setdefault(length, place)
    return [tuple(found[place][length] for length in sorted(found[place])) for place in range(len(finals))]
