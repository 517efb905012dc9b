"""What a provider would say about a whole chain: accepted, rejected with the errors, or not fully checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from chainviz.core.chain.problems import SEVERITIES, Problem

State = Literal["accepted", "rejected", "unchecked"]


@dataclass(frozen=True, slots=True)
class Verdict:
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    unchecked: int = 0
    """Places that were not understood."""

    @property
    def state(self) -> State:
        """Never accepted where something was not understood."""
        return "rejected" if self.errors else "unchecked" if self.unchecked else "accepted"

    @property
    def text(self) -> str:
        """`accepted`, `4 errors` or `not fully checked`."""
        if self.errors:
            return f"{self.errors:,} error{'s' if self.errors > 1 else ''}"
        return "not fully checked" if self.unchecked else "accepted"


def verdict_of(problems: Iterable[Problem]) -> Verdict:
    return verdict_from(counted(problems))


def verdict_from(counts: Sequence[int]) -> Verdict:
    """`counts`: how many problems of each severity, in the order of SEVERITIES."""
    return Verdict(*counts)


def counted(problems: Iterable[Problem]) -> list[int]:
    """How many there are of each severity, in the order of SEVERITIES."""
    counts = [0] * len(SEVERITIES)
    for problem in problems:
        counts[SEVERITIES.index(problem.severity)] += 1
    return counts
