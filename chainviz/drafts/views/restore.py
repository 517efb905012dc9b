"""The button of a comparison that brings one text back, as a step of a draft on the newest version."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from chainviz.chains.access import chain_for
from chainviz.core.errors import ChainError, Refused
from chainviz.drafts import services
from chainviz.drafts.access import Ground, version_of
from chainviz.drafts.restoring import restoring_edit
from chainviz.drafts.views.answers import see_other, to_draft
from chainviz.store.chain import StoredChain
from chainviz.web.addresses import small_number


@require_POST
def restore_text(request: HttpRequest, chain_id: int, before: int, after: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    old = StoredChain(version_of(chain, before).snapshot)
    head = version_of(chain, chain.version)
    begun = services.open_draft(chain, request.user, head.number)
    ground = services.ground_of_draft(begun) if begun else Ground(chain, head, None, StoredChain(head.snapshot))
    message, _, part = request.POST.get("part", "").partition(".")
    try:
        options = restoring_edit(old, ground.stored, _number(message), _number(part))
        return to_draft(request, *services.change(ground, request.user, services.EDIT, options))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other(reverse("chains:diff", args=[chain.pk, before, after]))


def _number(text: str) -> int:
    number = small_number(text)
    if number is None:
        raise Refused("Choose a text of the comparison to restore.")
    return number
