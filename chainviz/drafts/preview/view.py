"""The page of a draft, and the small steps on it: undo, redo, discard and back."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.chains.diff.groups import count
from chainviz.chains.diff.page import asked_of, fold_fragment
from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.responses import see_other
from chainviz.drafts.preview.page import compared_of, draft_page
from chainviz.drafts.stored import steps_of
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.web.htmx import wants_fragment


@require_safe
def draft(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = draft_for(request, chain_id, draft_id)
    if found.saved_as is not None:
        return redirect("chains:version", chain_id, found.saved_as)
    if found.discarded_at is not None:
        steps = count(len(steps_of(found).all), "step")
        return render(request, "drafts/preview/gone.html", {"draft": found, "chain": found.chain, "steps": steps})
    asked = asked_of(request)
    compared = compared_of(found)
    if wants_fragment(request) and asked.fold is not None:
        fragment = fold_fragment(compared, asked)
        if fragment is None:
            raise Http404
        return HttpResponse(fragment)
    return render(request, "drafts/preview/draft.html", {"page": draft_page(found, compared, asked)})


@require_POST
def undo(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    if not services.undo(found):
        messages.info(request, "There is nothing to undo.")
    return _back(found)


@require_POST
def redo(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    if not services.redo(found):
        messages.info(request, "There is nothing to redo.")
    return _back(found)


@require_POST
def discard(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    services.discard(found)
    return _back(found)


@require_POST
def bring_back(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = draft_for(request, chain_id, draft_id)
    try:
        services.bring_back(found)
    except ChainError as refused:
        messages.error(request, str(refused))
    return _back(found)


def _back(found: Draft) -> HttpResponse:
    return see_other(reverse("drafts:draft", args=[found.chain_id, found.pk]))
