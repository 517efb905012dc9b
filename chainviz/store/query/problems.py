"""List the problems of a chain from any place on. Blocks without a matching problem are skipped without reading them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem, Severity
from chainviz.core.providers.rules import Mark
from chainviz.store.content.chain import StoredChain
from chainviz.store.outline.measures import OPENING, Counts, Measure, add_counts
from chainviz.store.outline.reader import OutlineReader
from chainviz.store.outline.rows import Row
from chainviz.store.outline.rules.section_rules import SectionRules
from chainviz.store.query.windows import row_problems


@dataclass(frozen=True, slots=True)
class ProblemFilter:
    """A filter of problems: None accepts all, and provider "" means the problems of the tree itself."""

    provider: str | None = None
    severity: Severity | None = None

    def counts(self, key: str) -> bool:
        own = "" if key == OPENING else key
        return self.provider is None or own == self.provider

    def takes(self, problem: Problem) -> bool:
        return self.counts(problem.provider) and self.severity in (None, problem.severity)

    def number(self, counts: Counts, several: bool) -> int:
        """Count the problems that match. The problem of a missing opening counts only if there are several sections."""
        found = 0
        for key, numbers in counts.items():
            if self.counts(key) and (several or key != OPENING):
                found += sum(numbers) if self.severity is None else numbers[SEVERITIES.index(self.severity)]
        return found


ALL = ProblemFilter()


@dataclass(frozen=True, slots=True)
class ProblemPage:
    problems: tuple[Problem, ...]
    next: Path | None
    """The first row of the next page; None at the end."""
    total: int


def problems(chain: StoredChain, start: Path | None = None, count: int = 50, wanted: ProblemFilter = ALL) -> ProblemPage:
    """Return at least `count` problems from the row of `start` on, if there are so many; a row's problems stay together."""
    outline = chain.outline
    found: list[Problem] = []
    following: Path | None = None
    for path, own in _rows_with(chain, _row_of(outline, start), wanted):
        if len(found) >= count:
            following = path
            break
        found += own
    by_section = SectionRules(outline, chain.format)
    counts = add_counts(outline.listing.total.problems, by_section.total() if wanted.provider != "" else {})
    total = wanted.number(counts, outline.listing.section_count > 1)
    return ProblemPage(tuple(found), following, total)


def problems_of(chain: StoredChain, path: Path, wanted: ProblemFilter = ALL) -> list[Problem]:
    """Return the problems of one row."""
    row = path.node
    chain.span(row)
    return [problem for problem in problems(chain, row, 1, wanted).problems if problem.path.node == row]


def next_problem(chain: StoredChain, path: Path | None, wanted: ProblemFilter = ALL) -> Problem | None:
    """Return the first problem in a row after that of `path`, or from the top if `path` is None."""
    outline = chain.outline
    first = 0 if path is None else _row_of(outline, path) + (path.pair is not None)
    for _, found in islice(_rows_with(chain, first, wanted), 1):
        return found[0]
    return None


def previous_problem(chain: StoredChain, path: Path, wanted: ProblemFilter = ALL) -> Problem | None:
    """Return the first problem of the nearest row before that of `path`."""
    for _, found in islice(_rows_with(chain, _row_of(chain.outline, path) - 1, wanted, step=-1), 1):
        return found[0]
    return None


def _row_of(outline: OutlineReader, path: Path | None) -> int:
    if path is None:
        return 0
    section = outline.section(path.section)
    return section.before.rows if path.pair is None else section.row_of(path)


def _rows_with(chain: StoredChain, first: int, wanted: ProblemFilter, step: int = 1) -> Iterator[tuple[Path, list[Problem]]]:
    outline = chain.outline
    listing, rows = outline.listing, _Rows(chain, wanted)
    indexes = range(len(listing.rows))
    for index in indexes if step > 0 else reversed(indexes):
        start = listing.rows_before(index).rows
        end = listing.row_ends[index].rows
        beyond = end <= first if step > 0 else start > first
        if beyond or not rows.may_be_in(listing.rows[index].measure, end):
            continue
        block = outline.row_block(index).rows
        for number in range(max(start, first), end) if step > 0 else range(min(end - 1, first), start - 1, -1):
            yield from rows.of(number, block[number - start])


class _Rows:
    """The matching problems of rows."""

    def __init__(self, chain: StoredChain, wanted: ProblemFilter) -> None:
        self._outline = chain.outline
        self._wanted = wanted
        self._several = chain.outline.listing.section_count > 1
        self._by_section = SectionRules(chain.outline, chain.format)
        self._once = self._by_section.rows_once(wanted.provider)
        self._anywhere, self._in_last = (Mark(0), Mark(0)) if wanted.provider == "" else self._by_section.marks_from(wanted.provider)

    def may_be_in(self, measure: Measure, end: int) -> bool:
        """Return True if a block with these sums, which ends before row `end`, may have matching problems."""
        marks = self._marks(end - 1)
        once = any(end - measure.rows <= row < end for row in self._once)
        return once or bool(self._wanted.number(measure.problems, self._several)) or any(measure.marked(mark) for mark in marks)

    def of(self, number: int, row: Row) -> Iterator[tuple[Path, list[Problem]]]:
        """Yield the path and the matching problems of each row that has any."""
        marked = row.marks & self._marks(number) or number in self._once
        if not row.problems and not marked:
            return
        section, place = self._outline.section_of_row(number), self._outline.row(number)
        own = row_problems(section.path_of(number), place, self._outline.listing.section_count)
        found = [*own, *(self._by_section.of_row(section, number, place) if marked else ())]
        fitting = [problem for problem in found if self._wanted.takes(problem)]
        if fitting:
            yield section.path_of(number), fitting

    def _marks(self, number: int) -> Mark:
        if self._anywhere == self._in_last:
            return self._anywhere
        return self._in_last if number >= self._by_section.last_start else self._anywhere
