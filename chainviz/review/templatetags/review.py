"""What pages of chains say of their reviews: the places that the explorer and the library leave for it. Team mode only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import template

from chainviz.chains.models import Chain
from chainviz.review.requests.standing import Badge, standings

register = template.Library()


@register.simple_tag(takes_context=True)
def review_badges(context: Mapping[str, Any], chains: Iterable[Chain]) -> dict[int, Badge]:
    """By the key of each chain that has one."""
    if context.get("signed_in") is None:
        return {}
    found = {key: standing.badge for key, standing in standings(list(chains)).items()}
    return {key: badge for key, badge in found.items() if badge is not None}


@register.simple_tag(takes_context=True)
def review_badge(context: Mapping[str, Any], chain: Chain) -> Badge | None:
    return review_badges(context, [chain]).get(chain.pk)


@register.filter
def of(badges: Mapping[int, Badge], chain: Chain) -> Badge | None:
    return badges.get(chain.pk)
