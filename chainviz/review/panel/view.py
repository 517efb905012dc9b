"""The panel beside the chain as a fragment, and the way from one open thread to the next."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.explorer.subject import Subject
from chainviz.chains.explorer.views.chain import version_subject
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import PathError
from chainviz.review.models import Verdict
from chainviz.review.panel.page import next_thread, node_part, panel, thread_url
from chainviz.review.requests.sections import viewed_marks
from chainviz.web.htmx import wants_fragment
from chainviz.web.query_params import small_number


@requires("read")
@require_safe
def review_panel(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """`?at=` names the node that is read; with `?only=node` what is about that alone. Without a script there are pages for it."""
    subject = version_subject(request, chain_id, number)
    at = request.GET.get("at", "")
    if not wants_fragment(request):
        return redirect("review:review" if settings.CHAINVIZ.mode == "team" else "review:threads", chain_id)
    if request.GET.get("only") == "node":
        viewed = viewed_marks(subject.chain, person_of(request))
        context = {"subject": subject, "node": node_part(subject, _path(subject, at), viewed)}
        return _fragment(request, "review/panel/_node.html", context)
    return panel_answer(request, subject, at)


def panel_answer(request: HttpRequest, subject: Subject, at: str) -> HttpResponse:
    shown = panel(subject, member_of(request), _path(subject, at))
    return _fragment(request, "review/panel/_panel.html", {"subject": subject, "panel": shown, "kinds": Verdict.Kind.choices})


@requires("read")
@require_safe
def thread_step(request: HttpRequest, chain_id: int, number: int) -> HttpResponse:
    """To the open thread after the one with number `thread` at the node `from`, or before it with `dir=previous`."""
    subject = version_subject(request, chain_id, number)
    at = (_path(subject, request.GET.get("from", "")), small_number(request.GET.get("thread", "")) or 0)
    found = next_thread(subject, at, request.GET.get("dir") == "previous")
    if wants_fragment(request):
        return _fragment(request, "review/panel/_step.html", {"thread": found})
    return redirect(thread_url(subject, found) if found is not None else subject.base_url)


def _path(subject: Subject, text: str) -> Path | None:
    """Raises Http404 where the version has no such node."""
    try:
        path = parse_path(text) if text else None
        if path is not None:
            subject.stored.span(path.node)
    except PathError as error:
        raise Http404(str(error)) from error
    return path


def _fragment(request: HttpRequest, template: str, context: Mapping[str, object]) -> HttpResponse:
    response = render(request, template, dict(context))
    patch_vary_headers(response, ["HX-Request"])
    return response
