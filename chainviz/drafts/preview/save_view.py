"""Saving a draft as the next version. Where somebody was faster, the answer is the conflict page (409)."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.core.errors import ChainError
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.conflict_view import conflict_answer
from chainviz.drafts.stored_draft import stored_draft
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.store.errors import Conflict
from chainviz.web.responses import see_other


@requires("save")
@require_POST
@recorded_together
def save(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = draft_for(request, chain_id, draft_id)
    if _is_sent_again(request, draft):
        messages.info(request, f"This draft was saved already, as version {draft.saved_as}.")
        return see_other("drafts:draft", chain_id, draft.pk)
    draft = open_draft_for(request, chain_id, draft_id)
    try:
        version = services.save(draft, note=request.POST.get("note", ""), by=person_of(request))
    except Conflict:
        return conflict_answer(request, draft)
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("drafts:draft", chain_id, draft.pk)
    note(request, version=version.number)
    messages.success(request, f"Saved as version {version.number}.")
    return see_other("chains:version", chain_id, version.number)


def _is_sent_again(request: HttpRequest, draft: Draft) -> bool:
    """Whether the draft is saved with the note of this form: the form was sent twice, or from another window."""
    return draft.saved_as is not None and request.POST.get("note", "").strip() in ("", stored_draft(draft).note)
