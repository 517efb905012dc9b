"""Where each message of the original chain lies in its tree: looked up by index, without walking a long section twice."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

from chainviz.core.chain.chain import Chain
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import place_in_words


class Places:
    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._pair_starts: dict[int, list[int]] = {}

    @cached_property
    def _section_starts(self) -> list[int]:
        lengths = [len(section) for section in self._chain.tree.sections]
        return list(accumulate(lengths, initial=0))[:-1]

    def path(self, index: int) -> Path:
        number = bisect_right(self._section_starts, index)
        section = self._chain.tree.sections[number - 1]
        inside = index - self._section_starts[number - 1]
        if inside < len(section.header):
            return Path(number, 0, inside)
        starts = self._starts(number)
        pair = bisect_right(starts, inside)
        place = inside - starts[pair - 1]
        return Path(number, pair, place if section.body[pair - 1].ai is not None else place + 1)

    def _starts(self, number: int) -> list[int]:
        if number not in self._pair_starts:
            section = self._chain.tree.sections[number - 1]
            lengths = [len(pair.rest) + (pair.ai is not None) for pair in section.body]
            self._pair_starts[number] = list(accumulate(lengths, initial=len(section.header)))[:-1]
        return self._pair_starts[number]

    def words(self, index: int) -> str:
        return place_in_words(self.path(index), index)
