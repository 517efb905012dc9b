"""The problems of a chain: their list, and links to the next and the previous one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.page import repair_url_of
from chainviz.chains.explorer.pasted_error import LONGEST, pasted_error
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.verdicts import verdict_view, verdicts_by_provider
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.chain.problems import Problem
from chainviz.core.chain.surroundings import describe_unread
from chainviz.core.formats.vendors import PROVIDERS
from chainviz.core.providers.check import verdict_from
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.codec import unpack
from chainviz.store.query.problems import ProblemFilter, next_problem, previous_problem, problems_of
from chainviz.store.query.problems import problems as problems_from
from chainviz.store.transfer.document_context import envelope_of
from chainviz.web.http import small_number, wants_fragment


@requires("read")
@require_safe
def problems(request: HttpRequest, subject: Subject) -> HttpResponse:
    """List the problems of a provider's rules or, without `provider`, of the chain's structure. `error` is an API error, whose place
    is shown too."""
    wanted = _problem_filter(request)
    error = request.GET.get("error", "").strip()[:LONGEST]
    counts = unpack(subject.outline.verdicts)
    envelope = envelope_of(subject.snapshot)
    context = {
        "subject": subject,
        "page": problems_from(subject.stored, _path(request, "from"), wanted=wanted),
        "provider": wanted.provider,
        "error": error,
        "longest_error": LONGEST,
        "pasted": pasted_error(subject, error) if error else None,
        "providers": [(each, verdict_view(verdict)) for each, verdict in verdicts_by_provider(counts).items()],
        "structure": subject.outline.errors + subject.outline.warnings,
        "notes_count": verdict_from(counts.get("", ())).infos,
        "repair_url": repair_url_of(subject),
        "notes": envelope.warnings,
        "unread": [describe_unread(each) for each in envelope.unread],
    }
    return render(request, "chains/explorer/problems.html", context)


@requires("read")
@require_safe
def step(request: HttpRequest, subject: Subject) -> HttpResponse:
    """Go to the next or previous problem from `from`, by a redirect; a script gets its place and text.

    `nth` is the index of the current problem in its row; without it, the problems of that row are skipped.
    """
    backwards = request.GET.get("dir") == "previous"
    number, found = _stepped(subject.stored, _path(request, "from"), _nth(request), _problem_filter(request), backwards)
    if wants_fragment(request):
        return render(request, "chains/explorer/_problem.html", {"problem": found, "nth": number})
    if found is None:
        return redirect(subject.base_url)
    return redirect(f"{subject.base_url}at/{found.path}#{found.path.dom_id}")


def _stepped(
    chain: StoredChain, start: Path | None, nth: int | None, wanted: ProblemFilter, backwards: bool
) -> tuple[int, Problem | None]:
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


def _path(request: HttpRequest, name: str) -> Path | None:
    return parse_path(request.GET[name]) if request.GET.get(name) else None
