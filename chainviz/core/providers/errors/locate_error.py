"""Where in a chain the error lies that an API's message tells of, and what fixes it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from chainviz.core.chain.message_paths import message_paths
from chainviz.core.chain.messages import Message
from chainviz.core.chain.parse import parse
from chainviz.core.chain.paths import Path
from chainviz.core.chain.problems import Problem
from chainviz.core.providers import PROVIDERS
from chainviz.core.providers.check import check_all
from chainviz.core.providers.contract import Provider
from chainviz.core.providers.errors.error_messages import ErrorMessage
from chainviz.core.providers.request import NO_REQUEST, Request


@dataclass(frozen=True, slots=True)
class LocatedError:
    provider: Provider | None
    """Whose message it is; None where the wording is not known."""
    problems: tuple[Problem, ...]
    """What the provider's rules find there, the best match first; empty where the chain has no such problem (any more)."""
    path: Path | None
    """Where to look: of the first problem, else of the message or the id that the error names."""

    fixes: tuple[str, ...] = ()
    """Names of the fixes, the smallest first."""


def locate_error(
    error: ErrorMessage, messages: Sequence[Message], format: str = "", request: Request = NO_REQUEST
) -> LocatedError:
    """Only the rules of this class of error are asked; the id that the message names decides, then the index. `request`:
    as `check` takes it."""
    tree = parse(messages)
    places = set(_named(error, messages))
    asked = providers_of(error, format)
    said = check_all(asked, tree, format, request)
    found = [(provider, problem) for provider, problem in said if problem.rule in rules_of(error)]
    for provider in asked:
        best = ranked((problem for each, problem in found if each is provider), error, places)
        if best:
            return LocatedError(provider, best, best[0].path, best[0].fixes)
    path = list(message_paths(tree))[min(places)] if places else None
    return LocatedError(asked[0] if asked else None, (), path, unseen_fixes(error, places))


def providers_of(error: ErrorMessage, format: str) -> tuple[Provider, ...]:
    """Providers with this wording; those that chains of the format are made with come first."""
    names = dict.fromkeys(name for each in error.classes for name in each.providers)
    known = {provider.name: provider for provider in PROVIDERS}
    return tuple(sorted((known[name] for name in names), key=lambda provider: not provider.is_of(format)))


def rules_of(error: ErrorMessage) -> Sequence[str]:
    """The likeliest first."""
    return list(dict.fromkeys(rule for each in error.classes for rule in each.rules))


def ranked(problems: Iterable[Problem], error: ErrorMessage, places: set[int]) -> tuple[Problem, ...]:
    """Problems that name an id of the error come first, then those nearest to a message that it names (`places`), then those of
    the likeliest rule."""
    rules = rules_of(error)

    def distance(problem: Problem) -> tuple[bool, int, int]:
        nearest = min((abs(problem.message - place) for place in places), default=0)
        return not any(f"“{id}”" in problem.text for id in error.ids), nearest, rules.index(problem.rule)

    found = sorted(problems, key=distance)
    is_elsewhere = found and places and found[0].message not in places
    return () if is_elsewhere and unseen_fixes(error, places) else tuple(found)


def unseen_fixes(error: ErrorMessage, places: Collection[int]) -> tuple[str, ...]:
    """Fixes of the places that the error names, where no rule can see what is wrong there."""
    return tuple(dict.fromkeys(fix for each in error.classes for fix in each.unseen)) if places else ()


def _named(error: ErrorMessage, messages: Sequence[Message]) -> Iterator[int]:
    """Indexes in the chain of the messages that the error names, by id and by place."""
    for index, message in enumerate(messages):
        if {ref.id for ref in (*message.calls, *message.results)} & set(error.ids):
            yield index
    if error.message is not None:
        yield from sent_together(error.message, (each.source[0].ordinal if each.source else None for each in messages))


def sent_together(place: int, ordinals: Iterable[int | None]) -> list[int]:
    """The messages of the chain that the message at `place` of the request gives: one unit of the source may be several.

    `ordinals`: of the first unit of each message of the chain, None where it has none yet; a slot is no message of the
    request. Returns no index where the request has no such message."""
    group: list[int] = []
    number, last = -1, object()
    for index, ordinal in enumerate(ordinals):
        if ordinal is not None and ordinal < 0:
            continue
        if ordinal is None or ordinal != last:
            number += 1
        last = ordinal
        if number > place:
            break
        if number == place:
            group.append(index)
    return group
