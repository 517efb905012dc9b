"""What a provider's API would say about a chain, judged offline: rules as values, each with the API's own words and source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from chainviz.core.messages import CallRef, Message, Shape
from chainviz.core.paths import Path
from chainviz.core.problems import Problem, Severity, place_in_words, section_problems
from chainviz.core.tree import ChainAST, Section

M = TypeVar("M", bound=Shape)


@dataclass(frozen=True, slots=True)
class Rule:
    """error: certainly rejected; warning: depends on model, version or server; info: odd but legal."""

    id: str
    severity: Severity
    says: str
    """The API's own error text, as far as it is the same for every chain."""
    source: str
    fixes: tuple[str, ...] = ()


Broken = tuple[Rule, int | None, str]
"""A broken rule: which, by which part of the message, and what the message does."""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call with its place, for rules that look at the whole request."""

    id: str
    path: Path
    message: int
    part: int


class Provider(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def check_section(
        self,
        section: Section[Message],
        number: int,
        first_message: int,
        before: Shape | None,
        after: Shape | None,
        problems: Sequence[Problem],
    ) -> Iterator[Problem]:
        """All rules that one section and its neighbouring messages decide; `problems` are what the tree says of it."""

    def check_ids(self, calls: Iterable[Called]) -> Iterator[Problem]:
        """Rules about ids in the whole request; `calls` are all calls of the chain in order."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Turns a broken rule into a problem in one provider's name."""

    provider: str
    label: str

    def problem(self, rule: Rule, path: Path, message: int, part: int | None, what: str) -> Problem:
        at = Path(path.section, path.pair, path.message, part)
        text = f"{place_in_words(path, message)} {what}. {self._says(rule)}"
        return Problem(rule.id, rule.severity, at, message, part, text, rule.fixes, self.provider, rule.source)

    def reword(self, problem: Problem, rule: Rule) -> Problem:
        """A problem of the tree in the provider's words, with the same place and fixes."""
        text = f"{problem.text} {self._says(rule)}"
        return Problem(
            rule.id, rule.severity, problem.path, problem.message, problem.part, text, rule.fixes or problem.fixes,
            self.provider, rule.source,
        )  # fmt: skip

    def _says(self, rule: Rule) -> str:
        if rule.severity == "info":
            return f"{self.label}: {rule.says}."
        return f"{self.label}: “{rule.says}”"

    def reworded(self, problems: Iterable[Problem], rule_for: Callable[[Problem], Rule | None]) -> Iterator[Problem]:
        for problem in problems:
            rule = rule_for(problem)
            if rule is not None:
                yield self.reword(problem, rule)

    def broken(
        self,
        section: Section[Message],
        number: int,
        first_message: int,
        rules: Callable[[Message, int], Iterable[Broken]],
    ) -> Iterator[Problem]:
        """What is wrong in each message alone; `rules` are asked with the message and its index."""
        for offset, message in enumerate(section.messages):
            index = first_message + offset
            for rule, part, what in rules(message, index):
                yield self.problem(rule, _path(section, number, offset), index, part, what)


def _path(section: Section[M], number: int, offset: int) -> Path:
    """Of a message by its place in the section."""
    if offset < len(section.header):
        return Path(number, 0, offset)
    offset -= len(section.header)
    for p, pair in enumerate(section.body, 1):
        count = len(pair.rest) + (pair.ai is not None)
        if offset < count:
            return Path(number, p, offset + (pair.ai is None))
        offset -= count
    raise IndexError(offset)


def calls_of(tree: ChainAST[M]) -> Iterator[Called]:
    index = 0
    for number, section in enumerate(tree.sections, 1):
        index += len(section.header)
        for p, pair in enumerate(section.body, 1):
            calls: tuple[CallRef, ...] = () if pair.ai is None else pair.ai.calls
            for call in calls:
                yield Called(call.id, Path(number, p, 0), index, call.part)
            index += len(pair.rest) + (pair.ai is not None)


def repeated(calls: Iterable[Called]) -> Iterator[tuple[Called, Called]]:
    """Calls whose id an earlier call of the chain has, each with the last of those."""
    seen: dict[str, Called] = {}
    for call in calls:
        if call.id in seen:
            yield call, seen[call.id]
        seen[call.id] = call


def neighbours(tree: ChainAST[M]) -> Iterator[tuple[int, int, Section[M], M | None, M | None]]:
    """Each section with its number, its first message's index, and the messages right before and after it."""
    index = 0
    before: M | None = None
    for i, section in enumerate(tree.sections):
        following = tree.sections[i + 1] if i + 1 < len(tree.sections) else None
        # only the first section can be without header, so the next one begins with its header
        after = following.header[0] if following is not None else None
        yield i + 1, index, section, before, after
        index += len(section)
        before = _last(section)


def _last(section: Section[M]) -> M:
    if not section.body:
        return section.header[-1]
    pair = section.body[-1]
    if pair.rest:
        return pair.rest[-1]
    assert pair.ai is not None
    return pair.ai


def check(provider: Provider, tree: ChainAST[Message]) -> Iterator[Problem]:
    """Everything a provider would say about a chain; ids come last."""
    for number, index, section, before, after in neighbours(tree):
        problems = list(section_problems(section, number, index, after is not None))
        yield from provider.check_section(section, number, index, before, after, problems)
    yield from provider.check_ids(calls_of(tree))
