"""What a draft does to the problems of a chain and to the verdicts of the providers: before and after, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chainviz.chains.diff.groups import count, number_of
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.diff.chains import ChainDiff, Side
from chainviz.core.providers import PROVIDERS
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.models import Outline
from chainviz.store.outline.build import outline_of
from chainviz.store.query.windows import row_problems

MOST_CHANGES = 60
"""Changes whose nodes are looked at for problems that came or went."""
MOST_SHOWN = 12
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class ProblemRow:
    state: str
    icon: str
    word: str
    place: str
    href: str
    text: str


@dataclass(frozen=True, slots=True)
class Problems:
    before: int
    after: int
    rows: tuple[ProblemRow, ...]
    left_out: int
    href: str


@dataclass(frozen=True, slots=True)
class VerdictRow:
    label: str
    before: str
    before_state: str
    before_icon: str
    after: str
    after_state: str
    after_icon: str


def problems_of(
    old: StoredChain, new: StoredChain, diff: ChainDiff, *, at: Callable[[Path], str], all_href: str
) -> Problems:
    """Counts over the whole chain; rows for the nodes that changed, where alone problems can come or go."""
    cleared: list[Problem] = []
    arrived: list[Problem] = []
    still: list[Problem] = []
    for group in diff.changes[:MOST_CHANGES]:
        before, after = list(_problems_in(old, group.old)), list(_problems_in(new, group.new))
        left = Counter(problem.rule for problem in after)
        for problem in before:
            if left[problem.rule]:
                left[problem.rule] -= 1
            else:
                cleared.append(problem)
        known = Counter(problem.rule for problem in before)
        for problem in after:
            (still if known[problem.rule] else arrived).append(problem)
            known[problem.rule] -= known[problem.rule] > 0
    rows = [
        *(ProblemRow("problem", "problem", "new", number_of(p.path), at(p.path), p.text) for p in arrived),
        *(ProblemRow("ok", "ok", "cleared", number_of(p.path), "", p.text) for p in cleared),
        *(ProblemRow("changed", "info", "still", number_of(p.path), at(p.path), p.text) for p in still),
    ]
    numbers = [outline_of(chain.snapshot) for chain in (old, new)]
    before_count, after_count = (each.errors + each.warnings for each in numbers)
    return Problems(before_count, after_count, tuple(rows[:MOST_SHOWN]), max(0, len(rows) - MOST_SHOWN), all_href)


def _problems_in(chain: StoredChain, side: Side) -> Iterator[Problem]:
    """Of the tree alone; what providers say is told by the verdicts."""
    if side.is_empty:
        return
    outline = chain.outline
    first = outline.row_of_message(side.start)
    last = min(outline.row_of_message(side.stop - 1), first + MOST_ROWS)
    sections = outline.listing.section_count
    for number, place in outline.rows(range(first, last + 1)).items():
        if place.row.problems:
            path = outline.section_of_row(number).path_of(number)
            yield from (problem for problem in row_problems(path, place, sections) if not problem.provider)


def verdicts_of(before: Outline, after: Outline) -> tuple[VerdictRow, ...]:
    old, new = unpack(before.verdicts), unpack(after.verdicts)
    return tuple(VerdictRow(each.label, *_said(old.get(each.name)), *_said(new.get(each.name))) for each in PROVIDERS)


def _said(counts: list[int] | None) -> tuple[str, str, str]:
    """(words, state, icon)"""
    errors, warnings, _ = counts or [0, 0, 0]
    if errors:
        return f"rejects: {errors:,}", "problem", "failed"
    if warnings:
        return count(warnings, "warning"), "changed", "info"
    return "accepts", "ok", "ok"
