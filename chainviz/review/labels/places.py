"""Where the labels of a chain stand in a snapshot: worked out once, then kept as LabelPlace. Those of the whole chain have none."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.chains.models import Chain
from chainviz.review.anchor_places import standings
from chainviz.review.models import Label, LabelPlace
from chainviz.store.content.chain import StoredChain


def label_places(chain: Chain, stored: StoredChain) -> dict[int, LabelPlace]:
    """By the key of the label; those that are not known yet are stored."""
    labels = list(Label.objects.filter(chain=chain).exclude(path="").order_by("version", "pk"))
    key = stored.snapshot.pk
    known = {place.label_id: place for place in LabelPlace.objects.filter(snapshot_key=key, label__in=labels)} if labels else {}
    missing = [label for label in labels if label.pk not in known]
    if missing:
        made = list(_places_of(chain, stored, missing))
        LabelPlace.objects.bulk_create(made, ignore_conflicts=True)
        known |= {place.label_id: place for place in made}
    return known


def _places_of(chain: Chain, stored: StoredChain, labels: list[Label]) -> Iterator[LabelPlace]:
    for label, standing, path in standings(chain, stored, labels):
        found = LabelPlace(label=label, snapshot_key=stored.snapshot.pk, state=standing.state, message=standing.index)
        found.path = path
        yield found
