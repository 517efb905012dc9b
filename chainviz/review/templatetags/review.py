"""The reviews on pages of chains, in the places that the explorer and the library leave for them. Team mode only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import template

from chainviz.accounts.models import member_of
from chainviz.chains.models import Chain
from chainviz.review.labels import used_labels
from chainviz.review.models import Label
from chainviz.review.requests.services import Badge, standings

register = template.Library()


@register.simple_tag(takes_context=True)
def review_badges(context: Mapping[str, Any], chains: Iterable[Chain]) -> dict[int, Badge]:
    """Return badges by the key of each chain that has one."""
    if context.get("signed_in") is None:
        return {}
    found = {key: standing.badge for key, standing in standings(list(chains), for_badges=True).items()}
    return {key: badge for key, badge in found.items() if badge is not None}


@register.simple_tag(takes_context=True)
def review_badge(context: Mapping[str, Any], chain: Chain) -> Badge | None:
    return review_badges(context, [chain]).get(chain.pk)


@register.simple_tag(takes_context=True)
def team_labels(context: Mapping[str, Any]) -> list[tuple[str, str]]:
    return used_labels(member_of(context["request"]).team)


@register.simple_tag
def chain_labels(chains: Iterable[Chain]) -> dict[int, list[Label]]:
    """Return for each chain the labels of the whole chain, each once."""
    found: dict[int, dict[str, Label]] = {}
    for label in Label.objects.filter(chain__in=[chain.pk for chain in chains], path="").order_by("kind", "name", "value"):
        found.setdefault(label.chain_id, {}).setdefault(label.key, label)
    return {key: list(labels.values()) for key, labels in found.items()}


@register.filter
def of(found: Mapping[int, Any], chain: Chain) -> Any:
    return found.get(chain.pk)
