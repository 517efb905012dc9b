"""The problems of some rows, found by looking at no more than those rows, the one before and the message behind.

What core and the providers say about sections is asked of small trees made of these rows, so that an edited outline says
the same as one built anew. Providers judge each row as a section of its own (up to the first AI message the rows are
judged together); what a provider says about a whole section beyond that only a full check can tell (`chainviz check`).
Numbers in the small trees are not those of the chain, except where they begin it; packed problems keep none (rows.py).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from chainviz.core.chain.messages import AI, CallRef, Message, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, section_problems, tree_problems
from chainviz.core.chain.tree import BodyPair, ChainAST, Section
from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.contract import Called, Excerpt, excerpts
from chainviz.store.outline.rows import OPENING, Row, Stretch, pack_problem

OPENING_RULE = "missing-human"
Repeated = Callable[[int, CallRef], bool]
"""Whether an earlier call of the chain has the id of this call of the given row."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known about the rows before and after a stretch of rows."""

    before: Stretch[Any] | None = None
    """The row before; None where the stretch begins the chain."""
    after: Shape | None = None
    """The message behind the stretch, if there is one."""


def judge(rows: Sequence[Stretch[Message]], around: Surroundings, repeated: Repeated) -> list[Row]:
    """The rows with their problems."""
    return _Judge(rows, around).judge(repeated)


class _Judge:
    def __init__(self, rows: Sequence[Stretch[Message]], around: Surroundings) -> None:
        self.rows = rows
        self.around = around
        self.begins = around.before is None
        context = [around.before] if around.before is not None else []
        self.seen: list[Stretch[Any]] = [*context, *rows]
        self.context = len(context)
        # the index 0 is special: only what begins the chain may have it
        first = 0 if self.begins else 1
        self.starts = [first, *accumulate((len(row.messages) for row in self.seen), initial=first)][1:]

    def judge(self, repeated: Repeated) -> list[Row]:
        found: list[list[list[Any]]] = [[] for _ in self.seen]
        tree = list(self._tree())
        suspects = {self._row_of(problem) for problem in tree}
        for problem in sorted([*tree, *self._providers(suspects, repeated)], key=lambda problem: problem.message):
            row = self._row_of(problem)
            key = OPENING if problem.rule == OPENING_RULE and not problem.provider else problem.provider
            found[row].append(pack_problem(problem, problem.message - self.starts[row], key))
        return [row.row(problems) for row, problems in zip(self.rows, found[self.context :], strict=True)]

    def _row_of(self, problem: Problem) -> int:
        return bisect_right(self.starts, problem.message, hi=len(self.seen)) - 1

    def _tree(self) -> Iterator[Problem]:
        tree = ChainAST(tuple(_sections(self.seen)))
        follows = self.around.after is not None
        number = 1 if self.begins else 2
        for problem in tree_problems(tree, first_section=number, first_message=self.starts[0], follows=follows):
            if problem.rule != OPENING_RULE:
                yield problem
        if self.begins and tree.sections:
            yield from _opening(tree.sections[0])

    def _providers(self, suspects: Container[int], repeated: Repeated) -> Iterator[Problem]:
        single = 0
        if self.begins:
            single = next((i for i, row in enumerate(self.rows) if row.messages[0].role == AI), len(self.rows) - 1) + 1
            yield from self._together(self.rows[:single])
        for i in range(single, len(self.rows)):
            yield from self._alone(i, i + self.context in suspects)
        for i, row in enumerate(self.rows):
            here: set[str] = set()
            for call in row.messages[0].calls:
                if repeated(i, call):
                    yield from _repeats(call, self.starts[i + self.context], call.id in here)
                here.add(call.id)

    def _together(self, rows: Sequence[Stretch[Message]]) -> Iterator[Problem]:
        ends = self.around.after is None and len(rows) == len(self.rows)
        for excerpt in excerpts(ChainAST(tuple(_sections(rows))), ends=ends):
            yield from _said(excerpt)

    def _alone(self, i: int, is_suspect: bool) -> Iterator[Problem]:
        """A row that does not begin the chain; the tree has something to say of it only where it has in its context."""
        row = self.rows[i]
        index = self.starts[i + self.context]
        section = Section(row.messages) if row.is_header else Section((), (row.pair,))
        before = self.seen[i + self.context - 1].messages[-1].role
        is_last = self.around.after is None and i + 1 == len(self.rows)
        problems = tuple(section_problems(section, 2, index, not is_last)) if is_suspect else ()
        yield from _said(Excerpt(section, 2, index, before, is_last, problems))


def _said(excerpt: Excerpt) -> Iterator[Problem]:
    for provider in PROVIDERS:
        yield from provider.check_section(excerpt)


def _opening(section: Section[Any]) -> Iterator[Problem]:
    """Judged as if another section came: whether one does is known only when the chain is read."""
    first = next((p for p, pair in enumerate(section.body) if pair.ai is not None), -1) + 1
    for problem in section_problems(Section(section.header, section.body[:first]), 1, 0, True):
        if problem.rule == OPENING_RULE:
            yield problem


def _repeats(call: CallRef, index: int, is_in_message: bool) -> Iterator[Problem]:
    path = Path(2, 1, 0)
    before = Called(call.id, path, index if is_in_message else index - 1, call.part)
    for provider in PROVIDERS:
        yield from provider.check_ids((before, Called(call.id, path, index, call.part)))


ID_RULES = frozenset(problem.rule for problem in _repeats(CallRef("", "", 0), 1, True))


def _sections(rows: Sequence[Stretch[Any]]) -> Iterator[Section[Any]]:
    header: list[Any] = []
    body: list[BodyPair[Any]] = []
    for row in rows:
        if row.is_header:
            if body:
                yield Section(tuple(header), tuple(body))
                header, body = [], []
            header.append(row.messages[0])
        else:
            body.append(row.pair)
    if header or body:
        yield Section(tuple(header), tuple(body))
