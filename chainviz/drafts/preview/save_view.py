"""Saving a draft as the next version. Where somebody was faster, the answer is the conflict page (409)."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from chainviz.accounts.audit.record import note, recorded_together
from chainviz.accounts.models import member_of, person_of
from chainviz.accounts.permissions import requires
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import ChainError, PathError
from chainviz.core.operations.mask import MASK
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.conflict_view import conflict_answer
from chainviz.drafts.stored_draft import stored_draft
from chainviz.drafts.target import draft_for, open_draft_for
from chainviz.store.errors import Conflict
from chainviz.store.history.versions import steps_of
from chainviz.store.models import Version
from chainviz.web.responses import see_other


@requires("save")
@require_POST
@recorded_together
def save(request: HttpRequest, chain_id: int, draft_id: int) -> HttpResponse:
    draft = draft_for(request, chain_id, draft_id)
    if _is_sent_again(request, draft):
        messages.info(request, f"This draft was already saved as version {draft.saved_as}.")
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
    messages.success(request, _saved(request, chain_id, version))
    place = _place(request)
    return see_other("chains:at", chain_id, version.number, place) if place else see_other("chains:version", chain_id, version.number)


def _place(request: HttpRequest) -> Path | None:
    """The node at which the reader is in the explorer; the version has it, as it has what the draft has."""
    try:
        return parse_path(request.POST.get("at", ""))
    except PathError:
        return None


def _saved(request: HttpRequest, chain_id: int, version: Version) -> str:
    """Where the draft masked something, with the way to purge it from the versions before."""
    said = f"Saved as version {version.number}."
    if not member_of(request).may("purge") or all(step.operation != MASK.name for step in steps_of(version)):
        return said
    address = f"{reverse('purge', args=[chain_id])}?masked={version.number}"
    return format_html('{} Earlier versions still contain the masked values. <a href="{}">Purge them</a>', said, address)


def _is_sent_again(request: HttpRequest, draft: Draft) -> bool:
    """Whether the draft is saved with the note of this form: the form was sent twice, or from another window."""
    return draft.saved_as is not None and request.POST.get("note", "").strip() in ("", stored_draft(draft).note)
