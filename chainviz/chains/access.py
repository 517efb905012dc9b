"""Turn the ids of an address into objects. No other module does. Unknown and forbidden objects both give 404."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from chainviz.accounts.models import Membership, member_of
from chainviz.chains.models import Arrival, Chain
from chainviz.store.models import Version
from chainviz.store.prepared_query import PreparedQuery

_chain_of_team = PreparedQuery(
    lambda team, pk: Chain.objects.visible_to(Membership(team_id=team)).in_library().select_related("local_file").filter(pk=pk)
)


def chain_for(request: HttpRequest, chain_id: int) -> Chain:
    """Return a chain of the library. A chain in the bin must be restored before it can be opened."""
    found = _chain_of_team(member_of(request).team_id, chain_id)
    if not found:
        raise Http404("No chain matches the address.")
    return found[0]


def binned_chain_for(request: HttpRequest, chain_id: int) -> Chain:
    return get_object_or_404(Chain.objects.visible_to(member_of(request)).in_bin(), pk=chain_id)


def arrival_for(request: HttpRequest, arrival_id: int) -> Arrival:
    return get_object_or_404(Arrival.objects.visible_to(member_of(request)), pk=arrival_id)


def version_of(chain: Chain, number: int) -> Version:
    found = Version.objects.select_related("snapshot")
    return get_object_or_404(found, history=chain.history, number=number)
