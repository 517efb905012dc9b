"""Drafts: proposed next versions, stored step by step so that they survive a reload and a restart.

A draft object caches its steps. Every change locks the draft first, and compares its checksum to see whether the cache is still valid.
"""

from __future__ import annotations

from django.db import connection, models, transaction
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.history.steps import AddStep, NewStep, take_step
from chainviz.store.models import Draft, History, Snapshot, Step, Version
from chainviz.store.prepared_query import PreparedQuery

FEW = 12
"""The number of steps whose outlines are read with them, because the page of a draft needs the last one."""


def start_draft(base: Version, *, author: str, note: str = "") -> Draft:
    draft = Draft.objects.create(history_id=base.history_id, base=base, author=author, note=note)
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
