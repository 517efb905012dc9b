"""What a provider's API would say about a chain, judged offline: rules as values, each with the API's own words and source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from chainviz.core.chain.arguments import is_json, is_json_object
from chainviz.core.chain.message_paths import section_paths
from chainviz.core.chain.messages import CallRef, Message, Role, Shape, ToolCall
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, Severity, place_in_words, section_problems
from chainviz.core.chain.tree import ChainAST, Section

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


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A section and what a provider has to know of the chain around it."""

    section: Section[Message]
    number: int
    """Its place in the chain, from 1."""
    first_message: int
    """The index of its first message in the chain."""
    before: Role
    """Role of the message right before it; "" where it begins the chain."""
    is_last: bool
    problems: Sequence[Problem]
    """What the tree says of it."""

    @property
    def end(self) -> int | None:
        """The index of the chain's last message, if it is in here."""
        return self.first_message + len(self.section) - 1 if self.is_last else None


class Provider(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    def check_section(self, excerpt: Excerpt) -> Iterator[Problem]:
        """All rules that one section and its neighbouring messages decide."""

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

    def broken(self, excerpt: Excerpt, rules: Callable[[Message, int], Iterable[Broken]]) -> Iterator[Problem]:
        """What is wrong in each message alone; `rules` are asked with the message and its index."""
        paths = section_paths(excerpt.section, excerpt.number)
        messages = enumerate(excerpt.section.messages, excerpt.first_message)
        for path, (index, message) in zip(paths, messages, strict=True):
            for rule, part, what in rules(message, index):
                yield self.problem(rule, path, index, part, what)


def broken_arguments(part: int, call: ToolCall, no_json: Rule, no_object: Rule) -> Iterator[Broken]:
    """Arguments that are there must be a JSON object."""
    if call.arguments.strip() and not is_json_object(call.arguments):
        rule, kind = (no_object, "no object") if is_json(call.arguments) else (no_json, "no JSON")
        yield rule, part, f"calls {call.name or 'a tool'} with arguments that are {kind}"


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


def excerpts(tree: ChainAST[Message], *, ends: bool = True) -> Iterator[Excerpt]:
    """The sections of a chain, or of its beginning where it does not end with them."""
    index = 0
    before: Role = ""
    for number, section in enumerate(tree.sections, 1):
        is_last = ends and number == len(tree.sections)
        problems = tuple(section_problems(section, number, index, not is_last))
        yield Excerpt(section, number, index, before, is_last, problems)
        index += len(section)
        before = section.messages[-1].role


def check(provider: Provider, tree: ChainAST[Message]) -> Iterator[Problem]:
    """Everything a provider would say about a chain; ids come last."""
    for excerpt in excerpts(tree):
        yield from provider.check_section(excerpt)
    yield from provider.check_ids(calls_of(tree))
