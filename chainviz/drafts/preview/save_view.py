"""Saving a draft as the next version. Where somebody was faster, the answer is the conflict page (409)."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.operations.responses import see_other
from chainviz.drafts.preview.conflict_view import conflict_answer
from chainviz.drafts.stored import stored_draft
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.store.errors import Conflict


@require_POST
def save(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = draft_for(request, chain_id, draft_id)
    if draft.saved_as is not None:
        _say_saved(request, draft)
        return see_other(reverse("drafts:draft", args=[chain_id, draft.pk]))
    draft = open_draft_for(request, chain_id, draft_id)
    try:
        version = services.save(draft, note=request.POST.get("note", ""), by=request.user)
    except Conflict:
        return conflict_answer(request, draft)
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other(reverse("drafts:draft", args=[chain_id, draft.pk]))
    messages.success(request, f"Saved as version {version.number}.")
    return see_other(reverse("chains:version", args=[chain_id, version.number]))


def _say_saved(request: HttpRequest, draft: Draft) -> None:
    """The form was sent twice, or from a page that stood open in another window."""
    note = request.POST.get("note", "").strip()
    lost = note and note != stored_draft(draft).note
    kept = f" It went without the note you typed here: “{note}”." if lost else ""
    messages.info(request, f"This draft was saved already, as version {draft.saved_as}.{kept}")
