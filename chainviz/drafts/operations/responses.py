"""Responses of the views of drafts: a redirect to the draft, or the form with an error."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from chainviz.core.formats import read_only
from chainviz.core.operations.contract import Operation
from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.stored_draft import steps_of
from chainviz.drafts.target import Target
from chainviz.web.http import see_other


def to_draft(draft: Draft) -> HttpResponse:
    """Redirect to the page of the draft, which shows its steps with their warnings."""
    return see_other("drafts:draft", draft.chain_id, draft.pk)


def moved_on(target: Target) -> str:
    """Return the sentence that refuses a form that was made for other content."""
    what = "The draft" if target.draft else "The chain"
    return f"{what} changed after this form was opened, perhaps in another window. Check your choices against it."


def begun_draft(target: Target) -> Draft | None:
    """Return the person's draft of this version, to which further changes are added; None if there is none."""
    if target.draft is not None:
        return None
    draft = services.open_draft(target.chain, target.person, target.version.number)
    return draft if draft is not None and steps_of(draft).all else None


def read_only_page(request: HttpRequest, target: Target, operation: Operation[Any]) -> HttpResponse | None:
    """Return the page that explains why a chain in a read-only format cannot be changed, with a link to convert it; None if it can be
    changed. A conversion is always possible."""
    sentence = read_only(target.stored.format)
    if not sentence or operation.name == "convert":
        return None
    context = {
        "chain": target.chain,
        "operation": operation,
        "sentence": sentence,
        "convert_href": reverse("drafts:operation", args=[target.chain.pk, "convert"]) + target.query,
        "back_href": target.explorer,
    }
    return render(request, "drafts/operations/read_only.html", context, status=409 if request.method == "POST" else 200)
