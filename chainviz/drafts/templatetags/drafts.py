"""What pages of a chain say of a person's drafts: the place that the explorer and the history leave for them."""

from __future__ import annotations

from typing import Any

from django import template
from django.db.models import Count, OuterRef, Subquery

from chainviz.chains.models import Chain
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.strip import Strip, draft_strip
from chainviz.store.models import Step

register = template.Library()


@register.simple_tag(takes_context=True)
def open_drafts(context: dict[str, Any], chain: Chain) -> list[Draft]:
    """The person's drafts of a chain that hold steps, each with their number in `steps`; of the newest version first."""
    own = Step.objects.filter(draft=OuterRef("key")).order_by().values("draft")
    steps = Subquery(own.annotate(count=Count("pk")).values("count"))
    found = Draft.objects.open().visible_to(context["request"].user).filter(chain=chain).annotate(steps=steps)
    return list(found.filter(steps__gt=0).order_by("-base"))


@register.simple_tag
def strip_of_draft(draft_id: int) -> Strip:
    return draft_strip(Draft.objects.select_related("chain").get(pk=draft_id))
