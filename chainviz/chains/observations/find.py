"""Results that hold some words: the search of the chain names the messages, their results are then read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from chainviz.chains.observations.contents import Contents
from chainviz.core.observations.index import ObservationIndex
from chainviz.store.content.chain import StoredChain
from chainviz.store.query.find import Place, find

MOST_SEARCHED = 20
"""Stretches of about 50 messages that are read for one page."""


@dataclass(frozen=True, slots=True)
class FoundResults:
    numbers: tuple[int, ...]
    next: int | None
    """The first result that was not searched; None where all were."""


def find_results(
    chain: StoredChain, index: ObservationIndex, wanted: Sequence[int], words: str, count: int
) -> FoundResults:
    """Among the wanted results, which come in the order of the chain, the first `count` that hold the words."""
    found: list[int] = []
    after = _message(index, wanted[0]) - 1 if wanted else len(chain)
    for _ in range(MOST_SEARCHED):
        page = find(chain, words, after=Place(after))
        last = page.next.message if page.next is not None else None
        places = {hit.message for hit in page.hits}
        candidates = [number for number in _between(index, wanted, after, last) if _message(index, number) in places]
        found += _holding(chain, index, candidates, words)
        if last is None:
            return FoundResults(tuple(found[:count]), found[count] if len(found) > count else None)
        if len(found) > count:
            return FoundResults(tuple(found[:count]), found[count])
        after = last
    rest = _between(index, wanted, after, None)
    return FoundResults(tuple(found), rest[0] if rest else None)


def _message(index: ObservationIndex, number: int) -> int:
    return index.groups[index.results[number].group].message


def _between(index: ObservationIndex, wanted: Sequence[int], after: int, last: int | None) -> Sequence[int]:
    """The wanted results of the messages behind `after`, up to message `last`."""
    start = bisect_left(wanted, after + 1, key=lambda number: _message(index, number))
    stop = len(wanted) if last is None else bisect_left(wanted, last + 1, key=lambda number: _message(index, number))
    return wanted[start:stop]


def _holding(chain: StoredChain, index: ObservationIndex, numbers: Sequence[int], words: str) -> list[int]:
    rows = [index.results[number] for number in numbers]
    contents = Contents(chain, index, rows)
    sought = words.casefold()
    return [number for number, row in zip(numbers, rows, strict=True) if sought in contents.text(row).casefold()]
