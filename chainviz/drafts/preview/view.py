"""The page of a draft, and the small steps on it: undo, redo, discard and back."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.audit import recorded_together
from chainviz.accounts.permissions import requires
from chainviz.chains.diff.address import read_diff_query
from chainviz.chains.diff.groups import asks_to_unfold, fold_answer
from chainviz.core.counts import count_text
from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.page import compared_of, draft_page
from chainviz.drafts.preview.steps import step_answer
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.store.history import drafts as store
from chainviz.store.models import Step
from chainviz.web.http import own_page, see_other, wants_fragment


@requires("draft")
@require_safe
def draft(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = draft_for(request, chain_id, draft_id)
    if found.saved_as is not None:
        return redirect("chains:version", chain_id, found.saved_as)
    if found.discarded_at is not None:
        steps = count_text(len(steps_of(found).all), "step")
        return render(request, "drafts/preview/gone.html", {"draft": found, "chain": found.chain, "steps": steps})
    asked = read_diff_query(request)
    if asks_to_unfold(request, asked):
        return fold_answer(compared_of(found), asked)
    return render(request, "drafts/preview/draft.html", {"page": draft_page(found, asked, one_by_one=bool(request.GET))})


@requires("draft")
@require_POST
@recorded_together
def undo(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    return _stepped(request, found, "undo", store.undo(found.stored))


@requires("draft")
@require_POST
@recorded_together
def redo(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    return _stepped(request, found, "redo", store.redo(found.stored))


def _stepped(request: HttpRequest, found: Draft, word: str, step: Step | None) -> HttpResponse:
    if wants_fragment(request):
        return step_answer(request, found, word, step)
    if step is None:
        messages.info(request, f"There is nothing to {word}.")
    return see_other(own_page(request, request.POST.get("next", ""), _home(found)))


@requires("draft")
@require_POST
@recorded_together
def discard(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = open_draft_for(request, chain_id, draft_id)
    services.discard(found)
    return _back(found)


@requires("draft")
@require_POST
@recorded_together
def bring_back(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    found = draft_for(request, chain_id, draft_id)
    try:
        services.bring_back(found)
    except ChainError as refused:
        messages.error(request, str(refused))
    return _back(found)


def _back(found: Draft) -> HttpResponse:
    return see_other(_home(found))


def _home(found: Draft) -> str:
    return reverse("drafts:draft", args=[found.chain_id, found.pk])
