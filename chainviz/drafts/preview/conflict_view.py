"""Somebody was faster: both changes side by side, and the ways to go on. Nothing is overwritten."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.conflicts import conflict_page
from chainviz.drafts.target import open_draft_for
from chainviz.store.errors import Overlap
from chainviz.web.responses import see_other


@requires("draft")
@require_safe
def conflict(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    if draft.chain.version == draft.base:
        return redirect("drafts:draft", chain_id, draft.pk)
    return render(request, "drafts/preview/conflict.html", {"page": conflict_page(draft)})


def conflict_answer(request: HttpRequest, draft: Draft, sentence: str = "") -> HttpResponse:
    draft.chain.refresh_from_db()
    return render(request, "drafts/preview/conflict.html", {"page": conflict_page(draft, sentence)}, status=409)


@requires("draft")
@require_POST
def rebase(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    try:
        services.rebase(draft)
    except Overlap as overlap:
        return conflict_answer(request, draft, str(overlap))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:draft", chain_id, draft.pk)
    messages.success(request, f"Your changes stand on version {draft.base} now. Look at them and save.")
    return see_other("drafts:draft", chain_id, draft.pk)


@requires("save")
@require_POST
def branch(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    title = " ".join(request.POST.get("title", "").split())
    try:
        chain = services.branch(draft, title=title, note=request.POST.get("note", ""), by=person_of(request))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:conflict", chain_id, draft.pk)
    messages.success(request, f"Your changes are a chain of their own now, a branch of “{draft.chain.title}”.")
    return see_other("chains:chain", chain.pk)
