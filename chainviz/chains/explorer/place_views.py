"""Places in a chain: a text, the next problem, those that a person types as path, line or id; and the list of all problems.

These are the number of a message in the request, a path, and the id of a call. The server searches the whole chain, because the browser's
own search covers only the rows on the page.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.actions import Situation, actions_of, main_action
from chainviz.chains.explorer.pasted_error import LONGEST, error_url, looks_like_error, pasted_error
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.render.visible_text import marks
from chainviz.chains.verdicts import rule_words, unsent_messages, verdict_view
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.chain.problems import SEVERITIES, Problem
from chainviz.core.chain.surroundings import describe_unread
from chainviz.core.errors import PathError
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.pasted_errors.locate import sent_together
from chainviz.core.providers.check import verdict_from
from chainviz.core.providers.contract import Provider
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.query.find import Hit, Place, messages_with_id
from chainviz.store.query.find import find as find_in
from chainviz.store.query.problems import ProblemFilter, next_problem, previous_problem, problems, problems_of
from chainviz.store.query.problems import problems as problems_from
from chainviz.store.transfer.document_context import envelope_of
from chainviz.web.http import see_other, small_number, typed_words, wants_fragment

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


FIRST, LAST = "first", "last"
PREFIXES = ("messages.", "messages[", "message ", "contents[", "input[", "#")
"""Words before the number of a message, as APIs and chainviz write them."""
WAYS = "the number of a message, a path such as s2.p4, or the id of a call"
MOST_CALLS = 16


@dataclass(frozen=True, slots=True)
class Spot:
    path: Path
    words: str
    """The words there, such as `message 13`."""


class NoSuchPlace(PathError):
    """Raised if nothing in the chain has this name."""


def find_place(chain: StoredChain, text: str) -> Spot:
    """Find the node that a text names. Raises NoSuchPlace with a sentence about valid names."""
    words = text.strip()
    if not words:
        raise NoSuchPlace(f"Enter {WAYS}.")
    if not len(chain):
        raise NoSuchPlace("This chain is empty.")
    if words in (FIRST, LAST):
        return _spot_at(chain, 0 if words == FIRST else len(chain) - 1, f"{words} message")
    number = message_number(words)
    if number is not None:
        return _numbered(chain, number)
    return _path(chain, words) or _call(chain, words)


def message_number(words: str) -> int | None:
    """Return the number in `13`, `1,300`, `messages.13` or `messages[13].content`, or None for any other text."""
    for prefix in PREFIXES:
        if words.lower().startswith(prefix):
            return small_number(words[len(prefix) :].split("]")[0].split(".")[0].replace(",", ""))
    return small_number(words.replace(",", ""))


def _numbered(chain: StoredChain, number: int) -> Spot:
    found = sent_together(number, chain.ordinals())
    if not found:
        raise NoSuchPlace(f"No message {number:,}: the last one is {_count(chain) - 1:,}, counted from 0 as the API does.")
    return _spot_at(chain, found[0], f"message {number:,}")


def _spot_at(chain: StoredChain, index: int, words: str) -> Spot:
    return Spot(chain.outline.path_at(index), words)


def _count(chain: StoredChain) -> int:
    """Count the messages of the request: neighbours from one unit of the source are one, and content of a slot is none."""
    count, last = 0, object()
    for ordinal in chain.ordinals():
        if ordinal is not None and ordinal < 0:
            continue
        count += ordinal is None or ordinal != last
        last = ordinal
    return count


def _path(chain: StoredChain, words: str) -> Spot | None:
    try:
        path = parse_path(words)
        chain.span(path)
    except PathError:
        return None
    return Spot(path, f"{path.number}")


def _call(chain: StoredChain, id: str) -> Spot:
    found = messages_with_id(chain, id, MOST_CALLS)
    named = (index for index, row in zip(found, chain.rows_at(found), strict=True) if _has_call(row, id))
    index = next(named, None)
    if index is None:
        raise NoSuchPlace(f"This chain has no “{id[:60]}”. Enter {WAYS}.")
    return _spot_at(chain, index, f"call {id[:60]}")


def _has_call(row: StoredMessage, id: str) -> bool:
    return id in {ref.id for ref in (*row.shape.calls, *row.shape.results)}


def request_numbers(chain: StoredChain, indexes: Collection[int]) -> dict[int, int]:
    """Return the numbers in the request of some messages, counted from 0, by index. Messages outside the request have none."""
    numbers: dict[int, int] = {}
    number, last = -1, object()
    for index, ordinal in enumerate(islice(chain.ordinals(), max(indexes, default=-1) + 1)):
        if ordinal is not None and ordinal < 0:
            continue
        number += ordinal is None or ordinal != last
        last = ordinal
        if index in indexes:
            numbers[index] = number
    return numbers


LONGEST_TEXT = 1_000
LEAD, PAGE_LEAD = 16, 60
"""The number of characters shown before a match, in the list beside the chain and on the search page."""


@dataclass(frozen=True, slots=True)
class HitRow:
    path: str
    dom_id: str
    number: str
    at: float
    """The position in the chain, from 0 to 1."""
    before: str
    match: str
    after: str


@requires("read")
@require_safe
def find(request: HttpRequest, subject: Subject) -> HttpResponse:
    text = request.GET.get("q", "")[:LONGEST_TEXT]
    case = bool(request.GET.get("case"))
    found = find_in(subject.stored, text, case_sensitive=case, after=_place(request.GET.get("after", "")))
    more = {"q": text, **({"case": "1"} if case else {}), "after": ".".join(map(str, found.next or ()))}
    lead = LEAD if wants_fragment(request) else PAGE_LEAD
    context = {
        "subject": subject,
        "text": text,
        "case": case,
        "error_url": error_url(subject, text) if looks_like_error(text) else "",
        "hits": [_row(hit, len(subject.stored), lead) for hit in found.hits],
        "more_url": f"{subject.base_url}find?{urlencode(more)}" if found.next is not None else "",
    }
    response = render(request, "chains/explorer/_find.html" if wants_fragment(request) else "chains/explorer/find.html", context)
    response["Vary"] = "HX-Request"
    return response


def _place(text: str) -> Place | None:
    message, part = (small_number(number) for number in text.partition(".")[::2])
    return Place(message, part) if message is not None and part is not None else None


def _row(hit: Hit, messages: int, lead: int) -> HitRow:
    path = hit.path
    before, match, after = (marks(" ".join(words.split())) for words in (hit.before[-lead:], hit.match, hit.after))
    # the template adds no white space between the three texts
    before += " " * hit.before[-1:].isspace()
    after = " " * hit.after[:1].isspace() + after
    return HitRow(str(path), path.dom_id, path.number, hit.message / max(1, messages), before, match, after)


LONGEST_PLACE = 200


@requires("read")
@require_safe
def goto(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Redirect to the node. For a script, return its path, or the error sentence."""
    words = typed_words(request.GET.get("to", ""), LONGEST_PLACE)
    if not wants_fragment(request):
        spot = find_place(subject.stored, words)
        return see_other(f"{subject.base_url}at/{spot.path}#{spot.path.dom_id}")
    try:
        context: dict[str, object] = {"spot": find_place(subject.stored, words)}
    except NoSuchPlace as refused:
        context = {"refusal": str(refused)}
    return render(request, "chains/explorer/_goto.html", context)


@requires("read")
@require_safe
def step(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Go to the next or previous problem from `from`, by a redirect; a script gets its place and text.

    `nth` is the index of the current problem in its row; without it, the problems of that row are skipped.
    """
    backwards = request.GET.get("dir") == "previous"
    number, found = _stepped(subject.stored, path_in_query(request, "from"), _nth(request), _problem_filter(request), backwards)
    if wants_fragment(request):
        return render(request, "chains/explorer/_problem.html", {"problem": found, "nth": number})
    if found is None:
        return redirect(subject.base_url)
    return redirect(f"{subject.base_url}at/{found.path}#{found.path.dom_id}")


def _stepped(chain: StoredChain, start: Path | None, nth: int | None, wanted: ProblemFilter, backwards: bool) -> tuple[int, Problem | None]:
    """Return a problem and its index in its row: the next one in the row, or the first one in the nearest row."""
    if start is not None and nth is not None:
        own = problems_of(chain, start, wanted)
        number = nth - 1 if backwards else nth + 1
        if 0 <= number < len(own):
            return number, own[number]
    found = _nearest(chain, start, wanted, backwards)
    own = problems_of(chain, found.path, wanted) if found is not None and backwards else []
    return (len(own) - 1, own[-1]) if own else (0, found)


def _nth(request: HttpRequest) -> int | None:
    return small_number(request.GET.get("nth", ""))


def _nearest(chain: StoredChain, start: Path | None, wanted: ProblemFilter, backwards: bool) -> Problem | None:
    """Return the nearest problem in that direction, or from the other end of the chain if there is none."""
    if not backwards:
        return next_problem(chain, start, wanted) or next_problem(chain, None, wanted)
    found = previous_problem(chain, start, wanted) if start is not None else None
    return found or _last(chain, wanted)


def _last(chain: StoredChain, wanted: ProblemFilter) -> Problem | None:
    if not len(chain):
        return None
    end = chain.outline.path_at(len(chain) - 1).node
    return next(reversed(problems_from(chain, end, wanted=wanted).problems), None) or previous_problem(chain, end, wanted)


def _problem_filter(request: HttpRequest) -> ProblemFilter:
    name = request.GET.get("provider", "")
    return ProblemFilter(name if any(each.name == name for each in PROVIDERS) else "")


def path_in_query(request: HttpRequest, name: str) -> Path | None:
    """Return the path in a field of the address, or None without one."""
    return parse_path(request.GET[name]) if request.GET.get(name) else None
