"""Save versions. The head moves by compare-and-swap, so nobody's version is ever overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction

from chainviz.store.content.message_shapes import clean
from chainviz.store.errors import Conflict
from chainviz.store.history.drafts import current
from chainviz.store.models import Draft, History, Snapshot, Version
from chainviz.store.transfer.snapshot_writer import copied


def head_of(history: History) -> Version:
    head = History.objects.values("head").filter(pk=history.pk)
    return Version.objects.select_related("snapshot").get(pk__in=head)


def save(draft: Draft, *, author: str, note: str = "", expected: Version | None = None) -> Version:
    """Save the draft as the next version. Raises Conflict if the head is no longer `expected` (by default the draft's base)."""
    expected = expected or draft.base
    if expected.pk != draft.base_id:
        raise Conflict(draft.base, expected)
    with transaction.atomic():
        # lock the draft before its history, like all other writers
        held = Draft.objects.select_for_update().get(pk=draft.pk)
        version = advance(expected, current(held), author=author, note=note or held.note)
        Draft.objects.filter(pk=draft.pk).update(saved=version)
    draft.saved = version
    return version


def restore(old: Version, *, author: str, note: str = "", expected: Version) -> Version:
    """Save an old version as the newest one. The versions in between stay."""
    return advance(expected, old.snapshot, author=author, note=note or f"Version {old.number} again")


@contextmanager
def saved_as_branch(draft: Draft, *, author: str, note: str = "") -> Iterator[Version]:
    """Save the draft as version 1 of a new history. The content is copied, so that histories share nothing and can be deleted one by one.
    The body of the `with` statement runs in the same transaction."""
    with copied(current(draft)) as finish, transaction.atomic():
        Draft.objects.select_for_update().get(pk=draft.pk)
        version = finish(author=author, note=note or draft.note)
        Draft.objects.filter(pk=draft.pk).update(saved=version)
        yield version


def advance(expected: Version, snapshot: Snapshot, *, author: str, note: str) -> Version:
    """Save the snapshot as the next version. Raises Conflict if the head is no longer `expected`."""
    try:
        with transaction.atomic():
            version = Version.objects.create(
                history_id=expected.history_id,
                number=expected.number + 1,
                snapshot=snapshot,
                parent=expected,
                author=author,
                note=clean(note),
            )
            moved = History.objects.filter(pk=expected.history_id, head=expected).update(head=version)
            if moved:
                return version
            raise Conflict(expected, head_of(expected.history))
    except IntegrityError:
        # the number is taken, because somebody saved a version in the meantime
        raise Conflict(expected, head_of(expected.history)) from None


def steps_of(version: Version) -> Iterator[Snapshot]:
    """Yield the snapshots between the previous version and this one, oldest first; none if an old version was restored."""
    end = version.parent.snapshot_id if version.parent is not None else None
    found = []
    place: Snapshot | None = version.snapshot
    while place is not None and place.pk != end:
        found.append(place)
        place = place.parent
    yield from reversed(found) if place is not None else ()
