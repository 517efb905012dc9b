"""Somebody was faster: what both changed side by side, and the ways to go on. Nothing is overwritten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from chainviz.accounts.audit.record import not_recorded, note, recorded_together
from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.core.diff.merge.merged import Choice
from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.conflict_form import choices_in
from chainviz.drafts.preview.conflicts import NOTHING_SENT, Sent, conflict_page, seen_by
from chainviz.drafts.target import open_draft_for
from chainviz.store.errors import Overlap
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@requires("draft")
@require_http_methods(["GET", "HEAD", "POST"])
@not_recorded
def conflict(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    """A form that is sent here turns the page, or chooses one side for all nodes; nothing is stored."""
    draft = open_draft_for(request, chain_id, draft_id)
    if draft.chain.version == draft.base:
        return redirect("drafts:draft", chain_id, draft.pk)
    side = request.POST.get("all", "")
    everywhere: Choice | None = "mine" if side == "mine" else "theirs" if side == "theirs" else None
    first = small_number(request.POST.get("from", "")) or 1
    return _page(request, draft, Sent(choices_in(request.POST), first, everywhere=everywhere))


def _page(request: HttpRequest, draft: Draft, sent: Sent, status: int = 200) -> HttpResponse:
    return render(request, "drafts/preview/conflict.html", {"page": conflict_page(draft, sent)}, status=status)


def conflict_answer(request: HttpRequest, draft: Draft) -> HttpResponse:
    """What saving answers where somebody was faster."""
    draft.chain.refresh_from_db()
    return _page(request, draft, NOTHING_SENT, status=409)


@requires("draft")
@require_POST
@recorded_together
def rebase(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = open_draft_for(request, chain_id, draft_id)
    choices = choices_in(request.POST)
    try:
        services.rebase(draft, choices)
    except Overlap:
        return _asked_again(request, draft, choices)
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:draft", chain_id, draft.pk)
    note(request, version=draft.base, chosen=dict(Counter(choices.values())))
    messages.success(request, f"Your changes are now based on version {draft.base}. Review and save them.")
    return see_other("drafts:draft", chain_id, draft.pk)


def _asked_again(request: HttpRequest, draft: Draft, choices: Mapping[str, Choice]) -> HttpResponse:
    """What was chosen stays chosen where neither side changed since."""
    draft.chain.refresh_from_db()
    if request.POST.get("seen", "") in ("", seen_by(draft)):
        return _page(request, draft, Sent(choices, sentence="Choose a side for every node first.", asks=True), status=422)
    sentence = "Another version was saved, or your draft changed, while you chose. Your choices are kept; some are still missing."
    return _page(request, draft, Sent(choices, sentence=sentence, asks=True), status=409)


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
    note(request, branch=chain.pk)
    messages.success(request, f"Your changes are now a separate chain, a branch of “{draft.chain.title}”.")
    return see_other("chains:chain", chain.pk)
