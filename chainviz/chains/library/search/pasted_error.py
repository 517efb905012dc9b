"""An error message of an API in the library's search field: the chains that it may be about."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.core.providers.errors.error_messages import read_error
from chainviz.core.providers.errors.locate_error import providers_of

LONGEST = 4_000
"""Characters of a message that are looked at."""
SHORTEST = 20
"""A shorter text is a word to filter by."""
LOOKED_AT, SHOWN = 200, 8
"""Chains, the ones changed last."""


@dataclass(frozen=True, slots=True)
class Suspect:
    title: str
    url: str
    """Of its problems, with the message looked for in it."""
    is_rejected: bool
    """Whether an API that answers with this message has an error or a warning for it, of whatever kind."""


def suspects(chains: ChainQuerySet, text: str) -> tuple[Suspect, ...]:
    """The likeliest first; () where the text is no known error."""
    error = read_error(text[:LONGEST]) if len(text) > SHORTEST else None
    if error is None or not error.classes:
        return ()
    names = {provider.name for provider in providers_of(error, "")}
    found = [_suspect(chain, names, text) for chain in chains.order_by("-changed_at")[:LOOKED_AT]]
    return tuple(sorted(found, key=lambda each: not each.is_rejected)[:SHOWN])


def _suspect(chain: Chain, names: set[str], text: str) -> Suspect:
    rejected = any(sum(numbers[:2]) for name, numbers in chain.verdicts.items() if name in names)
    address = reverse("chains:problems", args=[chain.pk, chain.version])
    return Suspect(chain.title, f"{address}?{urlencode({'error': text[:LONGEST]})}", rejected)
