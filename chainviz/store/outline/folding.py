"""Keeps the problems of one node few: a pair with 100,000 results may break the same rule 100,000 times.

The first LISTED problems of a rule are kept one by one. The last of these counts the rest, so that totals stay exact.
`chainviz check` lists all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from chainviz.core.chain.problems import Problem

LISTED = 50


def fold(problems: Iterable[Problem]) -> list[Problem]:
    """Returns the problems in their order, at most LISTED for each node, provider, rule and severity."""
    folded: list[Problem] = []
    places: dict[tuple[object, ...], list[int]] = {}
    for problem in problems:
        same = places.setdefault((problem.path.node, problem.provider, problem.rule, problem.severity), [])
        if len(same) < LISTED:
            same.append(len(folded))
            folded.append(problem)
        else:
            last = folded[same[-1]]
            folded[same[-1]] = replace(last, alike=last.alike + 1 + problem.alike)
    return folded
