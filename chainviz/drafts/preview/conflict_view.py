"""Somebody was faster: both changes side by side, and the ways to go on. Nothing is overwritten."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.responses import see_other
from chainviz.drafts.preview.conflicts import conflict_page
from chainviz.drafts.target import open_draft_for
from chainviz.store.errors import Overlap


@require_safe
def conflict(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    if draft.chain.version == draft.base:
        return redirect("drafts:draft", chain_id, draft.pk)
    return render(request, "drafts/preview/conflict.html", {"page": conflict_page(draft)})


def conflict_answer(request: HttpRequest, draft: Draft, sentence: str = "") -> HttpResponse:
    draft.chain.refresh_from_db()
    return render(request, "drafts/preview/conflict.html", {"page": conflict_page(draft, sentence)}, status=409)


@require_POST
def rebase(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    try:
        services.rebase(draft)
    except Overlap as overlap:
        return conflict_answer(request, draft, str(overlap))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other(reverse("drafts:draft", args=[chain_id, draft.pk]))
    messages.success(request, f"Your changes stand on version {draft.base} now. Look at them and save.")
    return see_other(reverse("drafts:draft", args=[chain_id, draft.pk]))


@require_POST
def branch(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    title = " ".join(request.POST.get("title", "").split())
    try:
        chain = services.branch(draft, title=title, note=request.POST.get("note", ""), by=request.user)
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other(reverse("drafts:conflict", args=[chain_id, draft.pk]))
    messages.success(request, f"Your changes are a chain of their own now, a branch of “{draft.chain.title}”.")
    return see_other(reverse("chains:chain", args=[chain.pk]))
