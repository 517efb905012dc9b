"""Restoring from an earlier version, as a step of a draft: what a node was before, and the buttons that bring it back."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from chainviz.accounts.models import person_of
from chainviz.accounts.permissions import requires
from chainviz.chains.access import chain_for
from chainviz.core.chain.paths import parse_path
from chainviz.core.errors import ChainError, PathError, Refused
from chainviz.drafts import services
from chainviz.drafts.edit.history import earlier_page
from chainviz.drafts.edit.restore import restore
from chainviz.drafts.operations.responses import to_draft
from chainviz.drafts.target import target_of, target_of_draft, target_of_version, version_of
from chainviz.store.content.chain import StoredChain
from chainviz.web.query_params import small_number
from chainviz.web.responses import see_other


@requires("draft")
@require_safe
def earlier(request: HttpRequest, chain_id: int, where: str) -> HttpResponse:
    target = target_of(request, chain_id)
    try:
        page = earlier_page(target, parse_path(where).node)
    except PathError as unknown:
        raise Http404(str(unknown)) from unknown
    return render(request, "drafts/edit/earlier.html", {"page": page})


@requires("draft")
@require_POST
def restore_text(request: HttpRequest, chain_id: int, before: int, after: int) -> HttpResponse:
    chain = chain_for(request, chain_id)
    old = StoredChain(version_of(chain, before).snapshot)
    person = person_of(request)
    begun = services.open_draft(chain, person, chain.version)
    target = target_of_draft(begun) if begun else target_of_version(chain, chain.version, person)
    message, dot, part = request.POST.get("part", "").partition(".")
    try:
        found = _number(message), _number(part) if dot else None
        return to_draft(restore(target, old, before, *found))
    except ChainError as refused:
        messages.error(request, str(refused))
        return see_other("chains:diff", chain.pk, before, after)


def _number(text: str) -> int:
    number = small_number(text)
    if number is None:
        raise Refused("Choose something to restore from the comparison.")
    return number
