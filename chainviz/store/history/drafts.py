"""Drafts: proposed next versions, step by step, stored so that they survive a reload and a restart."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from chainviz.core.errors import Refused
from chainviz.store.history.steps import AddStep, NewStep, take_step
from chainviz.store.models import Draft, Snapshot, Step, Version


def start_draft(base: Version, *, author: str, note: str = "") -> Draft:
    return Draft.objects.create(history_id=base.history_id, base=base, author=author, note=note)


def current(draft: Draft) -> Snapshot:
    """Returns the content that the draft proposes now."""
    if not draft.cursor:
        return draft.base.snapshot
    return steps(draft)[draft.cursor - 1].snapshot


def steps(draft: Draft) -> list[Step]:
    """Returns all steps, with those beyond the cursor, which can be redone."""
    return list(draft.steps.select_related("snapshot").order_by("position"))


def add_step(draft: Draft, step: NewStep) -> Snapshot:
    return add(draft, lambda current: take_step(current, step))


@transaction.atomic
def add(draft: Draft, step: AddStep) -> Snapshot:
    """Adds a step behind the current one and drops those that were undone."""
    locked = _lock(draft)
    snapshot = step(current(locked))
    locked.steps.filter(position__gte=locked.cursor).delete()
    Step.objects.create(draft=locked, position=locked.cursor, snapshot=snapshot)
    _move(locked, locked.cursor + 1)
    draft.refresh_from_db()
    return snapshot


@transaction.atomic
def undo(draft: Draft) -> bool:
    """Returns whether there was a step to undo."""
    locked = _lock(draft)
    can_undo = locked.cursor > 0
    if can_undo:
        _move(locked, locked.cursor - 1)
    draft.refresh_from_db()
    return can_undo


@transaction.atomic
def redo(draft: Draft) -> bool:
    """Returns whether there was a step to redo."""
    locked = _lock(draft)
    can_redo = locked.cursor < locked.steps.count()
    if can_redo:
        _move(locked, locked.cursor + 1)
    draft.refresh_from_db()
    return can_redo


@transaction.atomic
def go_back(draft: Draft, position: int) -> list[Snapshot]:
    """Undoes the steps from `position` on; returns what they led to."""
    locked = _lock(draft)
    undone = [step.snapshot for step in steps(locked)[position : locked.cursor]]
    _move(locked, min(position, locked.cursor))
    draft.refresh_from_db()
    return undone


def _move(draft: Draft, cursor: int) -> None:
    draft.cursor = cursor
    draft.updated = timezone.now()
    draft.save(update_fields=["cursor", "updated"])


def _lock(draft: Draft) -> Draft:
    """Returns the draft as it is now; nobody else changes it until the transaction ends. Raises Refused where it is gone."""
    locked = Draft.objects.select_for_update().filter(pk=draft.pk).first()
    if locked is None:
        raise Refused("The draft was deleted meanwhile.")
    return locked


def discard(draft: Draft) -> None:
    """Deletes the draft; purge/garbage.py collects what it wrote."""
    draft.delete()
