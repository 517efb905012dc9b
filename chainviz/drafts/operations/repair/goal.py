"""The problems that the provider of the next call would report, in its own words and with its names of places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from chainviz.chains.explorer.places import request_numbers
from chainviz.chains.verdicts import VerdictView, next_call_errors, provider_of, verdict_view, verdicts_by_provider
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem, rule_flag
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.contract import Provider
from chainviz.drafts.target import Target
from chainviz.store.content.codec import unpack
from chainviz.store.outline.build import outline_of
from chainviz.store.query.problems import ProblemFilter, problems

MOST_ERRORS = 12


@dataclass(frozen=True, slots=True)
class ErrorLine:
    place: str
    """The name of the message for the provider, such as `messages.13`; "" if the file is not the JSON that is sent."""
    title: str
    text: str
    """One sentence with the provider's own words."""
    own_place: str
    href: str


@dataclass(frozen=True, slots=True)
class GoalView:
    provider: Provider
    """The provider of the next call, or the one that the person chose."""
    errors: int
    unsent: int
    """The number of errors in messages that the agent no longer sends."""
    is_accepted: bool
    lines: tuple[ErrorLine, ...]
    choices: tuple[tuple[Provider, VerdictView], ...]

    @property
    def more(self) -> int:
        return max(0, self.errors - len(self.lines))


def goal_view(target: Target, asked: str, at: Callable[[Path], str]) -> GoalView:
    """Return the view of a goal. `asked` is the name of the chosen provider; "" or another word stands for that of the
    chain."""
    provider = next((each for each in PROVIDERS if each.name == asked), None) or provider_of(target.stored)
    verdicts = verdicts_by_provider(unpack(outline_of(target.stored.snapshot).verdicts))
    found = verdicts[provider].errors
    errors = next_call_errors(target.stored, provider, found)
    verdicts[provider] = replace(verdicts[provider], errors=errors)
    lines = tuple(_lines(target, provider, at)) if errors else ()
    is_accepted = verdicts[provider].state == "accepted"
    choices = tuple((each, verdict_view(verdict)) for each, verdict in verdicts.items())
    return GoalView(provider, errors, found - errors, is_accepted, lines, choices)


def _lines(target: Target, provider: Provider, at: Callable[[Path], str]) -> list[ErrorLine]:
    found = problems(target.stored, count=MOST_ERRORS, wanted=ProblemFilter(provider.name, "error")).problems[:MOST_ERRORS]
    is_sent = target.stored.snapshot.format in provider.formats
    numbers = request_numbers(target.stored, {each.message for each in found}) if is_sent else {}
    return [_line(each, provider, numbers.get(each.message), at) for each in found]


def _line(problem: Problem, provider: Provider, number: int | None, at: Callable[[Path], str]) -> ErrorLine:
    place = provider.message_place.format(number) if number is not None else ""
    return ErrorLine(place, rule_flag(problem.rule).capitalize(), problem.text, problem.path.number, at(problem.path))
