"""The problems of a chain: a list, and the way to the next and the previous one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from chainviz.chains.explorer import repair_url_of
from chainviz.chains.subjects import Subject
from chainviz.core.paths import Path, parse_path
from chainviz.core.problems import Problem
from chainviz.core.providers import PROVIDERS
from chainviz.store.chain import StoredChain
from chainviz.store.problems import Wanted, next_problem, previous_problem
from chainviz.store.problems import problems as problems_from
from chainviz.web.htmx import wants_fragment


@require_safe
def problems(request: HttpRequest, subject: Subject) -> HttpResponse:
    """`provider`: what that one would say; else what is wrong with the chain's structure."""
    wanted = _wanted(request)
    context = {
        "subject": subject,
        "page": problems_from(subject.stored, _path(request, "from"), wanted=wanted),
        "provider": wanted.provider,
        "providers": [("", "Structure"), *((each.name, each.label) for each in PROVIDERS)],
        "repair_url": repair_url_of(subject),
    }
    return render(request, "chains/problems.html", context)


@require_safe
def step(request: HttpRequest, subject: Subject) -> HttpResponse:
    """To the next or previous problem from `from`: a redirect, or for a script where it is and what is wrong."""
    backwards = request.GET.get("dir") == "previous"
    found = _nearest(subject.stored, _path(request, "from"), _wanted(request), backwards)
    if wants_fragment(request):
        return render(request, "chains/_problem.html", {"problem": found})
    if found is None:
        return redirect(subject.base_url)
    return redirect(f"{subject.base_url}at/{found.path}#{found.path.dom_id}")


def _nearest(chain: StoredChain, start: Path | None, wanted: Wanted, backwards: bool) -> Problem | None:
    """In that direction, or from the other end of the chain where there is none."""
    if not backwards:
        return next_problem(chain, start, wanted) or next_problem(chain, None, wanted)
    found = previous_problem(chain, start, wanted) if start is not None else None
    return found or _last(chain, wanted)


def _last(chain: StoredChain, wanted: Wanted) -> Problem | None:
    if not len(chain):
        return None
    end = chain.outline.path_at(len(chain) - 1).node
    return next(reversed(problems_from(chain, end, wanted=wanted).problems), None) or previous_problem(chain, end, wanted)


def _wanted(request: HttpRequest) -> Wanted:
    name = request.GET.get("provider", "")
    return Wanted(name if any(each.name == name for each in PROVIDERS) else "")


def _path(request: HttpRequest, name: str) -> Path | None:
    return parse_path(request.GET[name]) if request.GET.get(name) else None
