"""What the store keeps of a draft: its base, its steps and the content they lead to."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.drafts.models import Draft
from chainviz.store.history import drafts as store
from chainviz.store.models import Draft as StoreDraft
from chainviz.store.models import Snapshot, Step


@dataclass(frozen=True, slots=True)
class Steps:
    all: tuple[Step, ...]
    cursor: int
    """So many of them count; the rest was undone."""

    def at(self, position: int) -> Step | None:
        return self.all[position] if 0 <= position < len(self.all) else None

    @property
    def can_undo(self) -> bool:
        return self.cursor > 0

    @property
    def can_redo(self) -> bool:
        return self.cursor < len(self.all)


def stored_draft(draft: Draft) -> StoreDraft:
    return StoreDraft.objects.select_related("base__snapshot").get(pk=draft.key)


def snapshot_of(draft: Draft) -> Snapshot:
    return store.current(stored_draft(draft))


def steps_of(draft: Draft) -> Steps:
    kept = stored_draft(draft)
    return Steps(tuple(store.steps(kept)), kept.cursor)
