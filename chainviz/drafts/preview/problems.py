"""What a draft does to the problems of a chain and to the verdicts of the providers: before and after, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chainviz.chains.diff.compared import Compared
from chainviz.chains.verdicts import VerdictView, verdict_view, verdicts_by_provider
from chainviz.core.chain.problems import Problem
from chainviz.core.diff.chains import Side
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.models import Outline
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
    before: VerdictView
    after: VerdictView


def problems_of(before: Outline, after: Outline, compared: Compared | None, href: str) -> Problems:
    """Counts problems of the whole chain. Rows are made where both contents were compared; `href` leads to all of them."""
    rows = list(_rows(compared)) if compared else []
    old, new = (each.errors + each.warnings for each in (before, after))
    return Problems(old, new, tuple(rows[:MOST_SHOWN]), max(0, len(rows) - MOST_SHOWN), href)


def _rows(compared: Compared) -> Iterator[ProblemRow]:
    """For the nodes that changed: nowhere else can problems come or go."""
    old, new, at = compared.old, compared.new, compared.links.after
    assert isinstance(old, StoredChain) and isinstance(new, StoredChain)
    cleared: list[Problem] = []
    arrived: list[Problem] = []
    still: list[Problem] = []
    changed = (group for group in compared.diff.groups if group.kind != "same")
    for group in islice(changed, MOST_CHANGES):
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
    yield from (ProblemRow("problem", "problem", "new", p.path.number, at(p.path), p.text) for p in arrived)
    yield from (ProblemRow("ok", "ok", "cleared", p.path.number, "", p.text) for p in cleared)
    yield from (ProblemRow("changed", "info", "still", p.path.number, at(p.path), p.text) for p in still)


def _problems_in(chain: StoredChain, side: Side) -> Iterator[Problem]:
    """Of the tree alone; the verdicts give what providers say."""
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


def verdicts_of(before: Outline, after: Outline, format: str) -> tuple[VerdictRow, ...]:
    """The verdicts of all providers; those with whose API chains of this format are made come first."""
    old, new = (verdicts_by_provider(unpack(each.verdicts)) for each in (before, after))
    providers = sorted(new, key=lambda provider: not provider.is_of(format))
    return tuple(VerdictRow(each.label, verdict_view(old[each]), verdict_view(new[each])) for each in providers)
