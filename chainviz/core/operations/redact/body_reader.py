"""Reads the messages at some places, a stretch at a time, so that a stored chain is asked seldom and memory stays small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.messages import Message

STRETCH = 200
GAP = 10
"""Messages nobody asked for that are read along rather than asking twice."""


def read_bodies(chain: Chain, places: Iterable[int]) -> Iterator[tuple[int, Message]]:
    """`places` rise. Each is given with its message."""
    for stretch in _stretches(places):
        start = stretch[0]
        messages = chain.slice(start, stretch[-1] + 1)
        for place in stretch:
            yield place, messages[place - start]


def _stretches(places: Iterable[int]) -> Iterator[list[int]]:
    stretch: list[int] = []
    for place in places:
        if stretch and (place - stretch[-1] > GAP or place - stretch[0] >= STRETCH):
            yield stretch
            stretch = []
        stretch.append(place)
    if stretch:
        yield stretch
