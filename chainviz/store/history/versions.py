"""Versions: saving moves the head by compare-and-swap, so nobody's version is ever overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, transaction

from chainviz.store.content.message_shapes import clean
from chainviz.store.errors import Conflict
from chainviz.store.history.drafts import current
from chainviz.store.models import Draft, History, Snapshot, Version
from chainviz.store.transfer.copies import copied


def head_of(history: History) -> Version:
    head = History.objects.values("head").filter(pk=history.pk)
    return Version.objects.select_related("snapshot").get(pk__in=head)


def save(draft: Draft, *, author: str, note: str = "", expected: Version | None = None) -> Version:
    """Save the draft as the next version. Raises Conflict if the head is no longer `expected` (by default the draft's base)."""
    expected = expected or draft.base
    if expected.pk != draft.base_id:
        raise Conflict(draft.base, expected)
    with transaction.atomic():
        # the draft before its history, in the order of all who write
        held = Draft.objects.select_for_update().get(pk=draft.pk)
        version = advance(expected, current(held), author=author, note=note or held.note)
        Draft.objects.filter(pk=draft.pk).update(saved=version)
    draft.saved = version
    return version


def restore(old: Version, *, author: str, note: str = "", expected: Version) -> Version:
    """An old state becomes the newest one; nothing in between is lost."""
    return advance(expected, old.snapshot, author=author, note=note or f"Version {old.number} again")


@contextmanager
def saved_as_branch(draft: Draft, *, author: str, note: str = "") -> Iterator[Version]:
    """Version 1 of a new history with what the draft proposes. A copy, not a second head: histories stay lines, share no
    bodies, and can be deleted for good one by one. The block is part of the transaction that makes the version."""
    with copied(current(draft)) as finish, transaction.atomic():
        Draft.objects.select_for_update().get(pk=draft.pk)
        version = finish(author=author, note=note or draft.note)
        Draft.objects.filter(pk=draft.pk).update(saved=version)
        yield version


def advance(expected: Version, snapshot: Snapshot, *, author: str, note: str) -> Version:
    """The snapshot becomes the next version; Conflict if the head is no longer `expected`."""
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
        # the number is taken: somebody's version came between
        raise Conflict(expected, head_of(expected.history)) from None


def steps_of(version: Version) -> Iterator[Snapshot]:
    """The snapshots between the version before and this one, first step first; none where an old state was restored."""
    end = version.parent.snapshot_id if version.parent is not None else None
    found = []
    place: Snapshot | None = version.snapshot
    while place is not None and place.pk != end:
        found.append(place)
        place = place.parent
    yield from reversed(found) if place is not None else ()
