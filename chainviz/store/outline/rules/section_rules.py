"""Find the rows that break a provider's section rules, from their marks and the sums of their section, which an edit in
another row of the section may change; and the rules for the whole chain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.rules import Mark, SectionRule
from chainviz.store.outline.measures import Counts, add_counts
from chainviz.store.outline.reader import OutlineReader, RowPlace, SectionPlace
from chainviz.store.outline.rows import Kind, Row

_ALL = (1 << len(Mark)) - 1
_Broken = tuple[Provider, SectionRule, int]
"""A provider's rule, and the number of messages that break it."""


class SectionRules:
    """`format`: in which the chain is written."""

    def __init__(self, outline: OutlineReader, format: str) -> None:
        self._outline = outline
        every = [(each, rule) for each in PROVIDERS for rule in each.rules_of_sections(format, outline.listing.request)]
        self._rules = [each for each in every if not each[1].once]
        self._once = [each for each in every if each[1].once]
        self._limiting = [each for each in PROVIDERS if each.limits_marks(format)]
        self._rows = outline.listing.total.rows
        self._first_rows: dict[Mark, int] = {}
        self._applying_in: dict[int, Sequence[tuple[Provider, SectionRule]]] = {}
        self._sections = outline.listing.section_count

    def total(self) -> Counts:
        """Count the problems of the whole chain by provider. Reads the sections only if they can have any."""
        return add_counts(_counts(self._broken()), counted(self._of_chain))

    def broken(self) -> set[str]:
        """Return the rules that the whole chain breaks, as `provider:rule`."""
        of_sections = {f"{provider.name}:{rule.rule.id}" for provider, rule, _ in self._broken()}
        return of_sections | {f"{problem.provider}:{problem.rule}" for problem in self._of_chain}

    def counts(self, section: SectionPlace) -> Counts:
        """Count the problems of one section by provider."""
        marked, before = section.measure.marked, section.before.marked
        once = ((each, rule, 1) for each, rule in self._once if marked(rule.mark) and not before(rule.mark))
        of_chain = counted(self._of_chain) if section.number == 1 else {}
        return add_counts(_counts((*self._broken_in(section), *once)), of_chain)

    def _broken(self) -> Iterator[_Broken]:
        marked, anywhere = self._outline.listing.total.marked, self.marks_from(None)[0]
        first = 1 if any(marked(mark) for mark in anywhere) else self._sections
        for section in self._outline.sections(max(1, first), self._sections + 1):
            yield from self._broken_in(section)
        yield from ((each, rule, 1) for each, rule in self._once if marked(rule.mark))

    def _broken_in(self, section: SectionPlace) -> Iterator[_Broken]:
        """Yield broken rules of a section, without those that only one message of a chain breaks."""
        for provider, rule in self._applying(section):
            number = section.measure.marked(rule.mark)
            if rule.at_end:
                number = int(bool(number and self._last_row.marks & rule.mark))
            if number:
                yield provider, rule, number

    def of_row(self, section: SectionPlace, number: int, place: RowPlace) -> Iterator[Problem]:
        """Yield the problems of one row, given by its number in the chain; the first one has those of the whole request."""
        if number == 0:
            yield from self._of_chain
        marks, part = place.row.marks & _ALL, place.row.marks >> len(Mark)
        if not marks:
            return
        path = section.path_of(number)
        once = ((provider, rule) for provider, rule in self._once if number == self.first_row(rule.mark))
        for provider, rule in (*self._applying(section), *once):
            if marks & rule.mark and (not rule.at_end or number == self._rows - 1):
                yield provider.marked(rule, Path(path.section, path.pair, 0), place.start, part if rule.of_part else None)

    @cached_property
    def _of_chain(self) -> tuple[Problem, ...]:
        """Rules about the whole request; their problems name its first message."""
        listing = self._outline.listing
        marked = listing.total.cached + listing.request.marked
        if not (self._limiting and marked and self._rows):
            return ()
        path = self._outline.section(1).path_of(0)
        message = int(path.pair != 0 and self._outline.row(0).row.kind is Kind.NO_AI)
        first = Path(path.section, path.pair, message)
        return tuple(problem for provider in self._limiting for problem in provider.check_marked(marked, first))

    def first_row(self, mark: Mark) -> int:
        """Return the first row of the chain with the mark; -1 if it has none."""
        if mark not in self._first_rows:
            self._first_rows[mark] = self._find(mark)
        return self._first_rows[mark]

    def _find(self, mark: Mark) -> int:
        listing = self._outline.listing
        for index, entry in enumerate(listing.rows):
            if entry.measure.marked(mark):
                rows = self._outline.row_block(index).rows
                return listing.rows_before(index).rows + next(i for i, row in enumerate(rows) if row.marks & mark)
        return -1

    def rows_once(self, provider: str | None) -> frozenset[int]:
        """Return the rows that break a rule of the provider (None: of any) which only one message of a chain breaks."""
        first = frozenset(0 for problem in self._of_chain if provider in (None, problem.provider))
        return first | frozenset(self.first_row(rule.mark) for each, rule in self._once if provider in (None, each.name))

    def marks_from(self, provider: str | None) -> tuple[Mark, Mark]:
        """Return the marks that may break a rule of the provider (None: of any) anywhere, and those in the last section
        only."""
        anywhere = last = Mark(0)
        for each, rule in self._rules:
            if provider not in (None, each.name) or (rule.where_thinking and not self._thinking):
                continue
            if rule.applies(Mark.THINKS, is_last=False):
                anywhere |= rule.mark
            else:
                last |= rule.mark
        return anywhere, anywhere | last

    @cached_property
    def last_start(self) -> int:
        """The first row of the last section."""
        return self._outline.section(self._sections).before.rows if self._sections else 0

    @property
    def _thinking(self) -> bool:
        return bool(self._outline.listing.total.marked(Mark.THINKS))

    def _applying(self, section: SectionPlace) -> Sequence[tuple[Provider, SectionRule]]:
        if section.number not in self._applying_in:
            marks, is_last = section.measure.marks, section.number == self._sections
            self._applying_in[section.number] = [each for each in self._rules if each[1].applies(marks, is_last=is_last)]
        return self._applying_in[section.number]

    @property
    def _last_row(self) -> Row:
        return self._outline.row(self._rows - 1).row


def _counts(broken: Iterable[_Broken]) -> Counts:
    found: Counts = {}
    for provider, rule, number in broken:
        found.setdefault(provider.name, [0] * len(SEVERITIES))[SEVERITIES.index(rule.rule.severity)] += number
    return found


def counted(problems: Iterable[Problem]) -> Counts:
    found: Counts = {}
    for problem in problems:
        found.setdefault(problem.provider, [0] * len(SEVERITIES))[SEVERITIES.index(problem.severity)] += 1
    return found
