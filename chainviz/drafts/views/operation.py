"""The page of any operation of the registry that has none of its own: its form is made from its options."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from chainviz.core.errors import ChainError
from chainviz.core.operations import OPERATIONS
from chainviz.core.operations.contract import Operation
from chainviz.drafts import services
from chainviz.drafts.access import ground_of
from chainviz.drafts.views.answers import begun_draft, moved_on, to_draft
from chainviz.web.forms import options_form

OWN_PAGES = {"repair", "edit", "redact", "mask", "summarize"}


def operation_named(name: str) -> Operation[Any]:
    found = next((each for each in OPERATIONS if each.name == name and name not in OWN_PAGES), None)
    if found is None:
        raise Http404
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def operation(request: HttpRequest, chain_id: int, name: str) -> HttpResponse:
    chosen = operation_named(name)
    ground = ground_of(request, chain_id)
    address = reverse("drafts:operation", args=[chain_id, name])
    form = options_form(chosen.Options)(request.POST if request.method == "POST" else None)
    error = ""
    if request.method != "POST":
        begun = begun_draft(request, ground)
        if begun is not None:
            return redirect(f"{address}?draft={begun.pk}")
    elif request.POST.get("seen") != ground.seen:
        error = moved_on(ground)
    elif form.is_valid():
        try:
            return to_draft(request, *services.change(ground, request.user, chosen, form.options))
        except ChainError as refused:
            error = str(refused)
    href, words = ground.back
    page = {
        "chain": ground.chain,
        "operation": chosen,
        "source_words": ground.words,
        "seen": ground.seen,
        "error": error,
        "back_href": href,
        "back_words": words,
        "post_href": address + ground.query,
        "keep_key": f"{ground.seen}:{name}",
    }
    status = 422 if error or form.errors else 200
    return render(request, "drafts/operation.html", {"page": page, "form": form}, status=status)
