"""The person's drafts on pages of a chain, in the places that the explorer and the history leave for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import template

from chainviz.chains.models import Chain
from chainviz.drafts import open_work
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.steps import Strip, draft_strip
from chainviz.drafts.stored_draft import steps_of

register = template.Library()


@register.simple_tag(takes_context=True)
def open_drafts(context: Mapping[str, Any], chain: Chain) -> list[Draft]:
    """Return the person's drafts of a chain that have steps, those of the newest version first; `steps` is their number."""
    return open_work.drafts_on(context["request"].user.pk, chain.pk)


@register.simple_tag(takes_context=True)
def drafts_of(context: Mapping[str, Any], chains: Iterable[Chain]) -> dict[int, open_work.OpenDraft]:
    return open_work.drafts_of(chains, context["request"].user)


@register.simple_tag(takes_context=True)
def jobs_of(context: Mapping[str, Any], chains: Iterable[Chain]) -> dict[int, open_work.Running]:
    return open_work.jobs_of(chains, context["request"].user)


@register.simple_tag
def strip_of_draft(draft: Draft) -> Strip:
    return draft_strip(draft)


@register.inclusion_tag("drafts/preview/_undo.html", takes_context=True)
def undo_and_redo(context: Mapping[str, Any], draft: Draft) -> Mapping[str, Any]:
    """Return the buttons for steps of a draft. They lead back to the page that they are on."""
    steps = steps_of(draft)
    return {
        "draft": draft,
        "can_undo": steps.can_undo,
        "can_redo": steps.can_redo,
        "next": context["request"].get_full_path(),
        "csrf_token": context["csrf_token"],
    }
