"""The page of a chain's problems: errors of one provider, at first of the next call's, or problems of the structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.actions import Situation, actions_of, main_action
from chainviz.chains.explorer.pasted_error import LONGEST, pasted_error
from chainviz.chains.explorer.place_views import path_in_query, request_numbers
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.verdicts import rule_words, unsent_messages, verdict_view
from chainviz.core.chain.problems import SEVERITIES, Problem
from chainviz.core.chain.surroundings import describe_unread
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.check import verdict_from
from chainviz.core.providers.contract import Provider
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.query.problems import ProblemFilter, problems
from chainviz.store.transfer.document_context import envelope_of

STRUCTURE = "structure"
"""The `provider` of an address that lists the problems of the structure."""

_STATES = {"error": "problem", "warning": "changed"}


@dataclass(frozen=True, slots=True)
class ProblemLine:
    problem: Problem
    place: str
    """The message as the provider names it, such as `messages.13`; "" if the file is not the JSON that is sent."""
    is_sent: bool
    """False if the agent no longer sends the message."""

    @property
    def state(self) -> str:
        """The colour of the line."""
        return _STATES.get(self.problem.severity, "quiet") if self.is_sent else "quiet"

    @property
    def title(self) -> str:
        return rule_words(self.problem.rule)


def problem_lines(chain: StoredChain, provider: Provider | None, found: Sequence[Problem], unsent: bool = False) -> list[ProblemLine]:
    """Return problems with the provider's names for their messages, the worst first. With `unsent`, those in messages that the agent no
    longer sends come last."""
    is_named = provider is not None and chain.snapshot.format in provider.formats
    numbers = request_numbers(chain, {each.message for each in found}) if is_named else {}
    left_out = unsent_messages(chain) if unsent else frozenset()
    lines = (
        ProblemLine(each, provider.message_place.format(numbers[each.message]), each.message not in left_out)
        if provider is not None and each.message in numbers
        else ProblemLine(each, "", each.message not in left_out)
        for each in found
    )
    return sorted(lines, key=lambda line: (not line.is_sent, SEVERITIES.index(line.problem.severity)))


@requires("read")
@require_safe
def problem_page(request: HttpRequest, subject: Subject) -> HttpResponse:
    """List the problems for `provider`, or for the provider of the next call without it. `error` is an API error, whose place is shown
    too."""
    situation = Situation(subject)
    provider = _provider_of(request, situation)
    is_own = provider is situation.provider
    found = problems(subject.stored, path_in_query(request, "from"), wanted=ProblemFilter(provider.name if provider else ""))
    error = request.GET.get("error", "").strip()[:LONGEST]
    envelope = envelope_of(subject.snapshot)
    fix = main_action(situation, tuple(actions_of(situation)))
    context = {
        "subject": subject,
        "page": found,
        "lines": problem_lines(subject.stored, provider, found.problems, is_own and situation.unsent_problems > 0),
        "provider": provider,
        "verdict": situation.verdicts[provider] if provider else None,
        "unsent": situation.unsent_problems if is_own else 0,
        "error": error,
        "longest_error": LONGEST,
        "pasted": pasted_error(subject, error) if error else None,
        "providers": [(each, verdict_view(verdict)) for each, verdict in situation.verdicts.items()],
        "accepting": sum(verdict.state == "accepted" for verdict in situation.verdicts.values()),
        "structure": situation.structure_problems,
        "notes_count": verdict_from(unpack(subject.outline.verdicts).get("", ())).infos,
        "fix": fix if fix and fix.name == "repair" else None,
        "notes": envelope.warnings,
        "unread": [describe_unread(each) for each in envelope.unread],
    }
    return render(request, "chains/explorer/problems.html", context)


def _provider_of(request: HttpRequest, situation: Situation) -> Provider | None:
    """Return the provider whose problems are listed, or None for those of the structure."""
    name = request.GET.get("provider", "")
    if name == STRUCTURE:
        return None
    return next((each for each in PROVIDERS if each.name == name), situation.provider)
