"""Drafts: proposed next versions, step by step, kept so that reload, restart and undo find them as they were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from chainviz.core.chain.chain import Splice
from chainviz.core.documents.context import Surroundings
from chainviz.core.errors import Refused
from chainviz.store.history.steps import Target, Wanted, take_step
from chainviz.store.models import Draft, Snapshot, Step, Version


def start_draft(base: Version, *, author: str, note: str = "") -> Draft:
    return Draft.objects.create(history_id=base.history_id, base=base, author=author, note=note)


def current(draft: Draft) -> Snapshot:
    """What the draft proposes now."""
    if not draft.cursor:
        return draft.base.snapshot
    return steps(draft)[draft.cursor - 1].snapshot


def steps(draft: Draft) -> list[Step]:
    """All steps, those beyond the cursor too (they can be redone)."""
    return list(draft.steps.select_related("snapshot").order_by("position"))


def add_step(
    draft: Draft,
    changes: Sequence[Splice],
    *,
    operation: str,
    options: dict[str, Any],
    report: Sequence[Any] = (),
    target: Target | None = None,
    surroundings: Surroundings | None = None,
) -> Snapshot:
    return add(draft, Wanted(changes, operation, options, report, target, surroundings))


@transaction.atomic
def add(draft: Draft, wanted: Wanted) -> Snapshot:
    """A further step; those that were undone are dropped."""
    held = _hold(draft)
    snapshot = take_step(current(held), wanted)
    append(held, snapshot)
    draft.refresh_from_db()
    return snapshot


@transaction.atomic
def add_written(draft: Draft, parent: Snapshot, show: Callable[[], Snapshot]) -> Snapshot:
    """As `add`, a step that is written already; Refused where the draft is no longer at `parent`."""
    held = _hold(draft)
    if current(held).pk != parent.pk:
        raise Refused("The draft changed meanwhile; look at it again.")
    snapshot = show()
    append(held, snapshot)
    draft.refresh_from_db()
    return snapshot


def append(draft: Draft, snapshot: Snapshot) -> None:
    draft.steps.filter(position__gte=draft.cursor).delete()
    Step.objects.create(draft=draft, position=draft.cursor, snapshot=snapshot)
    move(draft, draft.cursor + 1)


@transaction.atomic
def undo(draft: Draft) -> bool:
    held = _hold(draft)
    able = held.cursor > 0
    if able:
        move(held, held.cursor - 1)
    draft.refresh_from_db()
    return able


@transaction.atomic
def redo(draft: Draft) -> bool:
    held = _hold(draft)
    able = held.cursor < held.steps.count()
    if able:
        move(held, held.cursor + 1)
    draft.refresh_from_db()
    return able


def move(draft: Draft, cursor: int) -> None:
    draft.cursor = cursor
    draft.updated = timezone.now()
    draft.save(update_fields=["cursor", "updated"])


def _hold(draft: Draft) -> Draft:
    """The draft as it is now, which nobody else changes until the transaction ends."""
    return Draft.objects.select_for_update().get(pk=draft.pk)


def discard(draft: Draft) -> None:
    """The draft goes; what it wrote stays until it is collected (purge.py)."""
    draft.delete()
