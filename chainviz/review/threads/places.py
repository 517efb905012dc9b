"""Where the threads of a chain stand in a snapshot: worked out once, then kept as Place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chainviz.chains.models import Chain
from chainviz.review.anchor_places import standings
from chainviz.review.models import Place, Thread
from chainviz.store.content.chain import StoredChain


def place_threads(chain: Chain, stored: StoredChain) -> None:
    """Stores the places that are not known yet. One query where all are."""
    key = stored.snapshot.pk
    missing = Thread.objects.filter(chain=chain).exclude(places__snapshot_key=key).order_by("version", "pk")
    threads = list(missing)
    if threads:
        Place.objects.bulk_create(places_of(chain, stored, threads), ignore_conflicts=True)


def places_of(chain: Chain, stored: StoredChain, threads: Sequence[Thread]) -> Iterator[Place]:
    """Yields where the threads stand, in the order of their versions; stores nothing."""
    for thread, standing, path in standings(chain, stored, threads):
        place = Place(thread=thread, snapshot_key=stored.snapshot.pk, state=standing.state, message=standing.index)
        place.path = path
        if standing.range is not None:
            place.start, place.end = standing.range.start, standing.range.end
        yield place
