"""Turn the ids of an address into objects. No other module does. Unknown and forbidden objects both give 404."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from chainviz.accounts.models import member_of
from chainviz.chains.models import Arrival, Chain, ChainQuerySet
from chainviz.store.models import Version


def chains_for(request: HttpRequest) -> ChainQuerySet:
    """Return the chains of the library. A chain in the bin must be restored before it can be opened."""
    return Chain.objects.visible_to(member_of(request)).in_library()


def chain_for(request: HttpRequest, chain_id: int) -> Chain:
    return get_object_or_404(chains_for(request).select_related("local_file"), pk=chain_id)


def binned_chain_for(request: HttpRequest, chain_id: int) -> Chain:
    return get_object_or_404(Chain.objects.visible_to(member_of(request)).in_bin(), pk=chain_id)


def arrival_for(request: HttpRequest, arrival_id: int) -> Arrival:
    return get_object_or_404(Arrival.objects.visible_to(member_of(request)), pk=arrival_id)


def version_of(chain: Chain, number: int) -> Version:
    found = Version.objects.select_related("snapshot")
    return get_object_or_404(found, history=chain.history, number=number)
