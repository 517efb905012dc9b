"""What can be added up over rows, blocks and sections."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, NamedTuple

from chainviz.core.chain.problems import Severity

Counts = dict[str, list[int]]
"""Problems by provider ("" is the tree itself): errors, warnings, infos."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Measure(NamedTuple):
    headers: int = 0
    """Header messages."""
    pairs: int = 0
    messages: int = 0
    size: int = 0
    header_size: int = 0
    invalid: int = 0
    """Pairs that are not valid."""
    problems: Counts = {}

    @property
    def rows(self) -> int:
        return self.headers + self.pairs

    def __add__(self, other: Measure) -> Measure:  # type: ignore[override]
        return Measure(
            self.headers + other.headers,
            self.pairs + other.pairs,
            self.messages + other.messages,
            self.size + other.size,
            self.header_size + other.header_size,
            self.invalid + other.invalid,
            _both(self.problems, other.problems),
        )


NOTHING = Measure()


def _both(one: Counts, other: Counts) -> Counts:
    if not other:
        return one
    if not one:
        return other
    both = dict(one)
    for provider, counts in other.items():
        known = both.get(provider)
        both[provider] = [a + b for a, b in zip(known, counts, strict=True)] if known else counts
    return both


def add_up(measures: Iterable[Measure]) -> Measure:
    parts = list(measures)
    if not parts:
        return NOTHING
    headers, pairs, messages, size, header_size, invalid, problems = zip(*parts, strict=True)
    return Measure(
        sum(headers), sum(pairs), sum(messages), sum(size), sum(header_size), sum(invalid), reduce(_both, problems, {})
    )


def count_problems(problems: Iterable[list[Any]]) -> Counts:
    """Of packed problems, see rows.py: severity and provider lie at 1 and 5."""
    counts: Counts = {}
    for problem in problems:
        counts.setdefault(problem[5], [0, 0, 0])[problem[1]] += 1
    return counts
