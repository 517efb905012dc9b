"""The notice above the table about chains that were just added, with a button to undo it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from chainviz.accounts.models import member_of
from chainviz.chains.models import Arrival, Chain
from chainviz.web.http import small_number

LINKED = 5


@dataclass(frozen=True, slots=True)
class JustAdded:
    arrival: Arrival
    count: int
    first: Sequence[Chain]

    @property
    def more(self) -> int:
        return self.count - len(self.first)


def just_added(request: HttpRequest) -> JustAdded | None:
    """Return the upload in the address, without chains that are already in the bin."""
    number = small_number(request.GET.get("added", ""))
    if number is None:
        return None
    arrival = Arrival.objects.visible_to(member_of(request)).filter(pk=number, state=Arrival.State.DONE).first()
    if arrival is None:
        return None
    chains = Chain.objects.visible_to(member_of(request)).in_library().filter(pk__in=arrival.added)
    count = chains.count()
    return JustAdded(arrival, count, list(chains.order_by("pk")[:LINKED])) if count else None
