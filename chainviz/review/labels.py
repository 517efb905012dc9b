"""Labels of chains and nodes: set and remove them, find them in later versions, and list those that a team uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chainviz.accounts.models import Membership, Team, User
from chainviz.chains.models import Chain
from chainviz.core.chain.paths import Path, parse_path
from chainviz.core.errors import Refused
from chainviz.core.review import Anchor, Standing, follow
from chainviz.jobs.lease import storable
from chainviz.review.models import Label, LabelPlace
from chainviz.review.models.threads import LONGEST_TAG
from chainviz.review.requests.services import review_lock
from chainviz.store.content.chain import StoredChain
from chainviz.store.content.message_reader import StoredMessage
from chainviz.store.models import Snapshot, Version
from chainviz.store.successors import successors


class Anchored(Protocol):
    """A thread or a label."""

    @property
    def version(self) -> int: ...
    @property
    def anchor(self) -> Anchor: ...


A = TypeVar("A", bound=Anchored)


def standings(chain: Chain, stored: StoredChain, rows: Sequence[A]) -> Iterator[tuple[A, Standing, str]]:
    """Yield the standing of each row, and its path in this content. `rows`: in the order of their versions."""
    numbers = {row.version for row in rows}
    versions = Version.objects.filter(history=chain.history, number__in=numbers).select_related("snapshot")
    snapshots = {version.number: version.snapshot for version in versions}
    for number, group in groupby(rows, lambda row: row.version):
        old = _earlier(snapshots[number], stored)
        for row, standing in _followed(old, stored, list(group)):
            path = _path(row.anchor, standing, stored)
            yield row, standing, str(path) if path is not None else ""


def _earlier(snapshot: Snapshot, stored: StoredChain) -> StoredChain:
    """Return the earlier chain. Both share the blocks of their outlines that were read, since most are equal."""
    if snapshot.pk == stored.snapshot.pk:
        return stored
    chain = StoredChain(snapshot)
    chain.outline.blocks = stored.outline.blocks
    return chain


def _followed(old: StoredChain, new: StoredChain, rows: Sequence[A]) -> Iterator[tuple[A, Standing]]:
    own = [list(_messages(old, row.anchor)) for row in rows]
    found = successors(old.snapshot, new.snapshot, (message for each in own for message in each))
    for row, messages in zip(rows, own, strict=True):
        yield row, follow(row.anchor, old, new, [found[message.piece] for message in messages])


def _messages(chain: StoredChain, anchor: Anchor) -> Sequence[StoredMessage]:
    if anchor.path is None:
        return []
    span = chain.span(Path(anchor.path.section, anchor.path.pair, anchor.path.message))
    return chain.rows(span.start, span.stop)


def _path(anchor: Anchor, standing: Standing, chain: StoredChain) -> Path | None:
    if anchor.path is None or standing.index is None:
        return None
    found = chain.outline.path_at(standing.index)
    if standing.state == "folded":
        return found.node
    if anchor.path.pair is None:
        return Path(found.section)
    if anchor.path.message is None and found.pair:
        return Path(found.section, found.pair)
    return Path(found.section, found.pair, found.message, standing.part)


MOST_LABELS = 2_000
"""The most labels of a chain."""


@dataclass(frozen=True, slots=True)
class LabelChoice:
    """A label that a form asks to set."""

    version: int
    path: str
    kind: str
    value: str


@transaction.atomic
def set_label(chain: Chain, given: LabelChoice, *, by: User) -> Label:
    """Add a tag, or replace the person's own rating or outcome of the node. Raises Refused."""
    review_lock(chain)
    kind, name, value = _read(given)
    path = str(parse_path(given.path).node) if given.path else ""
    if Label.objects.filter(chain=chain).count() >= MOST_LABELS:
        raise Refused(f"A chain has at most {MOST_LABELS:,} labels.")
    same = Label.objects.filter(chain=chain, kind=kind)
    same = same.filter(name=name) if kind == Label.Kind.TAG else same.filter(person=by)
    label = _of_node(same, chain, given.version, path) or Label(chain=chain, version=given.version, path=path, kind=kind)
    label.name, label.value = name, value
    label.person, label.person_name, label.at = by, by.display_name, timezone.now()
    label.save()
    return label


def _of_node(labels: QuerySet[Label], chain: Chain, version: int, path: str) -> Label | None:
    """Return the label of the node, even if it was set on an earlier version with the same content there."""
    if not path:
        return labels.filter(path="", version=version).first()
    places = label_places(chain, StoredChain(Version.objects.get(history=chain.history, number=version).snapshot))
    here = {key for key, place in places.items() if place.path == path and place.state == LabelPlace.State.CARRIED}
    return labels.filter(pk__in=here).first()


def _read(given: LabelChoice) -> tuple[Label.Kind, str, int | None]:
    if given.kind == Label.Kind.TAG:
        name = " ".join(storable(given.value).split())
        if not name or len(name) > LONGEST_TAG:
            raise Refused(f"A tag has 1 to {LONGEST_TAG} characters.")
        return Label.Kind.TAG, name, None
    allowed = {Label.Kind.RATING: "12345", Label.Kind.OUTCOME: "01"}.get(given.kind, "")  # type: ignore[call-overload]
    if len(given.value) != 1 or given.value not in allowed:
        raise Refused("Choose a rating from 1 to 5, or pass or fail.")
    return Label.Kind(given.kind), "", int(given.value)


@transaction.atomic
def take_away(label: Label, *, by: Membership) -> None:
    """Remove a person's own label; editors can also remove those of others."""
    review_lock(label.chain)
    if label.person_id != by.user_id and not by.may("save"):
        raise Refused(f"{label.person_name} set this label; an editor can remove it.")
    label.delete()


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A label and its place in a version."""

    label: Label
    state: str
    """`carried`, `outdated`, `removed` or `folded`."""
    path: str
    """The path of its node there; "" for the whole chain and for removed nodes."""


def labels_of(chain: Chain, stored: StoredChain) -> list[LabelRow]:
    """Return the labels of the whole chain, then those of nodes in the order of the version, and last those of nodes
    that it no longer has."""
    places = label_places(chain, stored)
    found = [row_of(label, places.get(label.pk)) for label in Label.objects.filter(chain=chain)]
    return sorted(found, key=lambda row: (_order(row), row.label.kind, row.label.name, row.label.pk))


def row_of(label: Label, place: LabelPlace | None) -> LabelRow:
    return LabelRow(label, place.state, place.path) if place is not None else LabelRow(label, LabelPlace.State.CARRIED, "")


def _order(row: LabelRow) -> tuple[int, ...]:
    if not row.path:
        return (bool(row.label.path),)
    found = parse_path(row.path)
    return (0, found.section, found.pair or 0, found.message or 0)


def used_labels(team: Team) -> list[tuple[str, str]]:
    """Return the address and words of each label in the team's chains, for a filter."""
    found = Label.objects.filter(chain__team=team, chain__trashed_at=None)
    rows = found.order_by("kind", "name", "value").values_list("kind", "name", "value").distinct()[:500]
    labels: Iterable[Label] = (Label(kind=kind, name=name, value=value) for kind, name, value in rows)
    return [(label.key, label.text) for label in labels]


# Where the labels of a chain stand in a snapshot: worked out once, then kept as LabelPlace. Those of the whole chain
# have none.


def label_places(chain: Chain, stored: StoredChain) -> dict[int, LabelPlace]:
    """Return the places of labels by their keys, and store those that are new."""
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
