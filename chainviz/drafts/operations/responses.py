"""How views of drafts answer: on to the draft, or back to the form with a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from chainviz.drafts import services
from chainviz.drafts.models import Draft
from chainviz.drafts.stored import steps_of
from chainviz.drafts.target import Ground


def see_other(address: str) -> HttpResponse:
    response = redirect(address)
    response.status_code = 303
    return response


def to_draft(request: HttpRequest, draft: Draft, warnings: Iterable[str] = ()) -> HttpResponse:
    for warning in warnings:
        messages.warning(request, warning)
    return see_other(reverse("drafts:draft", args=[draft.chain_id, draft.pk]))


def moved_on(ground: Ground) -> str:
    """Why a form that was made for other content is not carried out."""
    what = "The draft" if ground.draft else "The chain"
    return (
        f"{what} changed since this form was made, perhaps in another window. Check it against what stands there now."
    )


def begun_draft(request: HttpRequest, ground: Ground) -> Draft | None:
    """Where the person has begun to change this version already, more changes go into that draft."""
    if ground.draft is not None:
        return None
    draft = services.open_draft(ground.chain, request.user, ground.version.number)
    return draft if draft is not None and steps_of(draft).all else None
