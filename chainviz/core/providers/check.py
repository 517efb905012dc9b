"""Check a chain against providers section by section, and give a verdict: accepted, rejected, or not fully checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from chainviz.core.chain.messages import AI, TOOL, CallRef, Message, Role, Shape
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import SEVERITIES, Problem, section_problems
from chainviz.core.chain.tree import BodyPair, ChainAST, Section, message_paths, section_paths
from chainviz.core.counts import count_text
from chainviz.core.providers.contract import Called, Excerpt, Provider
from chainviz.core.providers.findings import content_findings
from chainviz.core.providers.request import NO_REQUEST, Request
from chainviz.core.providers.rules import NO_MARK, join_marks
from chainviz.core.providers.server_blocks import marked_blocks

M = TypeVar("M", bound=Shape)


def check(provider: Provider, tree: ChainAST[Message], format: str = "", request: Request = NO_REQUEST) -> Iterator[Problem]:
    """Return all problems that a provider has with a chain in this format; those of ids come last. `request` is the
    request that its document records."""
    for _, problem in check_all((provider,), tree, format, request):
        yield problem


def check_all(
    providers: Sequence[Provider], tree: ChainAST[Message], format: str = "", request: Request = NO_REQUEST
) -> Iterator[tuple[Provider, Problem]]:
    """Check a chain against several providers in one pass over its sections. Yields each problem with its provider."""
    pairs = [pair for _, pair in tree.pairs()]
    paired, joined = call_ids_with_results(pairs), joined_call_ids(tree)
    for excerpt in excerpts(tree, format, request):
        whole = replace(excerpt, paired=paired, joined=joined)
        for provider in providers:
            for problem in provider.check_section(whole):
                yield provider, problem
    calls = list(calls_of(tree))
    messages: list[tuple[Path, int, Message]] = []
    if any(provider.whole for provider in providers):
        placed = zip(message_paths(tree), _messages(tree), strict=True)
        messages += ((path, index, message) for index, (path, message) in enumerate(placed))
    for provider in providers:
        of_ids = (*provider.check_ids(calls), *provider.check_whole(messages, format))
        for problem in (*of_ids, *_mark_problems(provider, tree, format, request.marked)):
            yield provider, problem


def _messages(tree: ChainAST[Message]) -> Iterator[Message]:
    return (message for section in tree.sections for message in section.messages)


def _mark_problems(provider: Provider, tree: ChainAST[Message], format: str, beside: int) -> Iterator[Problem]:
    if tree.sections and provider.limits_marks(format):
        marked = beside + sum(1 for message in _messages(tree) for _ in marked_blocks(message))
        yield from provider.check_marked(marked, next(section_paths(tree.sections[0], 1)))


def excerpts(tree: ChainAST[Message], format: str = "", request: Request = NO_REQUEST, *, after: Role | None = None) -> Iterator[Excerpt]:
    """Yield the sections of a chain, or of its start if a message of the role `after` follows."""
    index = 0
    before: Role = ""
    seen = NO_MARK
    for number, section in enumerate(tree.sections, 1):
        is_last = number == len(tree.sections)
        following = after if is_last else tree.sections[number].messages[0].role
        problems = section_problems(section, number, index, following is not None)
        excerpt = replace(excerpt_of(section, (number, index), (before, following), (format, request), tuple(problems)), seen=seen)
        yield excerpt
        seen = join_marks(frozenset((seen, *excerpt.marks)))
        index += len(section)
        before = section.messages[-1].role


def excerpt_of(
    section: Section[Message],
    place: tuple[int, int],
    around: tuple[Role, Role | None],
    document: tuple[str, Request],
    problems: tuple[Problem, ...],
) -> Excerpt:
    """Return an excerpt. `place` contains the section's number and the index of its first message, `around` the roles
    before and after it, `document` its format and its request, and `problems` those of the tree."""
    number, index = place
    before, after = around
    format, request = document
    found = content_findings(section, number, index, before)
    return Excerpt(section, number, index, before, after, (*problems, *found), format, request=request)


def call_ids_with_results(pairs: Iterable[BodyPair[Message]]) -> frozenset[str]:
    """Return the ids of calls that have a later result."""
    called: set[str] = set()
    answered: set[str] = set()
    for pair in pairs:
        called.update(call.id for call in (pair.ai.calls if pair.ai is not None else ()))
        answered.update(result.id for message in pair.rest for result in message.results if result.id in called)
    return frozenset(answered)


def joined_call_ids(tree: ChainAST[M]) -> frozenset[str]:
    """Return the ids of calls whose result comes after the last of several consecutive AI messages. APIs that join
    these messages see call and result as neighbours."""
    found = JoinedResults()
    for section in tree.sections:
        for message in section.messages:
            found.add(message)
    return frozenset(found.ids)


class JoinedResults:
    """Takes the messages of a chain in order and collects the ids that `joined_call_ids` describes."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self._run: set[str] = set()
        """Ids of the calls in the current run of AI messages, without those of its last one."""
        self._last: frozenset[str] = frozenset()
        self._before: Role = ""

    def add(self, message: Shape) -> None:
        if message.role == AI:
            self._run = self._run | self._last if self._before == AI else set()
            self._last = frozenset([call.id for call in message.calls])
        elif message.role == TOOL:
            self.ids |= {result.id for result in message.results} & self._run
        else:
            self._run, self._last = set(), frozenset()
        self._before = message.role


def calls_of(tree: ChainAST[M]) -> Iterator[Called]:
    index = 0
    for number, section in enumerate(tree.sections, 1):
        index += len(section.header)
        for p, pair in enumerate(section.body, 1):
            calls: tuple[CallRef, ...] = () if pair.ai is None else pair.ai.calls
            for call in calls:
                yield Called(call.id, Path(number, p, 0), index, call.part)
            index += len(pair.rest) + (pair.ai is not None)


State = Literal["accepted", "rejected", "unchecked"]


@dataclass(frozen=True, slots=True)
class Verdict:
    errors: int = 0
    warnings: int = 0
    infos: int = 0
    unchecked: int = 0
    """The number of places that were not understood."""

    @property
    def state(self) -> State:
        """A verdict is never `accepted` if something was not understood."""
        return "rejected" if self.errors else "unchecked" if self.unchecked else "accepted"

    @property
    def text(self) -> str:
        """`accepted`, `4 errors` or `not fully checked`."""
        if self.errors:
            return count_text(self.errors, "error")
        return "not fully checked" if self.unchecked else "accepted"


def verdict_of(problems: Iterable[Problem]) -> Verdict:
    return verdict_from(counted(problems))


def verdict_from(counts: Sequence[int]) -> Verdict:
    """Return the verdict. `counts` is the number of problems of each severity, in the order of SEVERITIES."""
    return Verdict(*counts)


def counted(problems: Iterable[Problem]) -> list[int]:
    """Count the problems of each severity, in the order of SEVERITIES."""
    counts = [0] * len(SEVERITIES)
    for problem in problems:
        counts[SEVERITIES.index(problem.severity)] += 1
    return counts
