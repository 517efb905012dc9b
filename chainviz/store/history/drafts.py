"""Drafts, stored step by step so that they survive a reload, and versions. The head moves by compare-and-swap.

A draft object caches its steps. Every change locks the draft first, and compares its checksum to see whether the cache is still valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, connection, models, transaction
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.content.message_shapes import clean
from chainviz.store.errors import Conflict
from chainviz.store.history.steps import AddStep, NewStep, take_step
from chainviz.store.models import Draft, History, Snapshot, Step, Version
from chainviz.store.prepared_query import PreparedQuery
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


FEW = 12
"""The number of steps whose outlines are read with them, because the page of a draft needs the last one."""


def start_draft(base: Version, *, author: str) -> Draft:
    draft = Draft.objects.create(history_id=base.history_id, base=base, author=author)
    draft.steps_read = ()
    return draft


_with_base = PreparedQuery(lambda key: Draft.objects.select_related("history", "base__snapshot__outline").filter(pk=key))


def read_draft(key: int) -> Draft:
    """Return a draft with its base, in one query."""
    for draft in _with_base(key):
        return draft
    raise Draft.DoesNotExist


def current(draft: Draft) -> Snapshot:
    """Return the content that the draft proposes now."""
    if not draft.cursor:
        return draft.base.snapshot
    if draft.steps_read is not None:
        return draft.steps_read[draft.cursor - 1].snapshot
    if draft.last_step is None:
        draft.last_step = draft.steps.select_related("snapshot__outline").get(position=draft.cursor - 1)
    return draft.last_step.snapshot


def steps(draft: Draft) -> tuple[Step, ...]:
    """Return all steps, with those beyond the cursor, which can be redone."""
    if draft.steps_read is None:
        content = "snapshot__outline" if draft.cursor <= FEW else "snapshot"
        read, last = draft.steps.select_related(content).order_by("position"), draft.last_step
        draft.steps_read = tuple(last if last is not None and step.pk == last.pk else step for step in read)
    return draft.steps_read


def lock(draft: Draft) -> int:
    """Lock a draft, and the edition of its history, until the transaction ends. Return the edition. If the draft has changed, its cached
    fields are read again. Raises Refused if it was deleted."""
    quote = connection.ops.quote_name
    tables = f"{quote(Draft._meta.db_table)} d JOIN {quote(History._meta.db_table)} h ON h.id = d.history_id"
    # lock the draft before its history, like all other writers; see lock_edition for the second lock
    locks = " FOR UPDATE OF d FOR KEY SHARE OF h" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT d.checksum, h.edition FROM {tables} WHERE d.id = %s{locks}", [draft.pk])
        row = cursor.fetchone()
    if row is None:
        raise Refused("The draft was deleted meanwhile.")
    checksum, edition = row
    if checksum is None or draft.checksum is None or bytes(checksum) != bytes(draft.checksum):
        draft.refresh_from_db()
    return int(edition)


def add_step(draft: Draft, step: NewStep) -> Snapshot:
    return add(draft, lambda current: take_step(current, step))


@transaction.atomic
def add(draft: Draft, step: AddStep) -> Snapshot:
    """Add a step after the current one, and drop undone steps."""
    lock(draft)
    return append(draft, step)


def append(draft: Draft, step: AddStep) -> Snapshot:
    """Add a step like `add`, to a draft that is locked."""
    snapshot = step(current(draft))
    kept = steps(draft)[: draft.cursor]
    if len(kept) < len(steps(draft)):
        draft.steps.filter(position__gte=draft.cursor).delete()
    draft.steps_read = (*kept, Step.objects.create(draft=draft, position=draft.cursor, snapshot=snapshot))
    _move(draft, draft.cursor + 1)
    return snapshot


@transaction.atomic
def undo(draft: Draft) -> Step | None:
    """Return the step that was undone, if there was one."""
    lock(draft)
    if not draft.cursor:
        return None
    _move(draft, draft.cursor - 1)
    return steps(draft)[draft.cursor]


@transaction.atomic
def redo(draft: Draft) -> Step | None:
    """Return the step that was redone, if there was one."""
    lock(draft)
    if draft.cursor >= len(steps(draft)):
        return None
    _move(draft, draft.cursor + 1)
    return steps(draft)[draft.cursor - 1]


def go_back(draft: Draft, position: int) -> list[Snapshot]:
    """Undo the steps of a locked draft from `position` on. Return the snapshots of these steps."""
    undone = [step.snapshot for step in steps(draft)[position : draft.cursor]]
    _move(draft, min(position, draft.cursor))
    return undone


def _move(draft: Draft, cursor: int) -> None:
    """Write the cursor and the checksum in one query. `save` would read the row again to compute the checksum."""
    steps(draft)
    draft.cursor, draft.updated = cursor, timezone.now()
    draft.checksum = draft.computed_checksum()
    values = {name: getattr(draft, name) for name in ("cursor", "updated", "checksum")}
    models.QuerySet(Draft).filter(pk=draft.pk).update(**values)


def discard(draft: Draft) -> None:
    """Delete the draft; purge/garbage.py collects what it wrote."""
    draft.delete()
