"""The steps of a draft, and its content after them."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.drafts.models import Draft
from chainviz.store.history import drafts as store
from chainviz.store.models import Snapshot, Step


@dataclass(frozen=True, slots=True)
class Steps:
    all: tuple[Step, ...]
    cursor: int
    """The number of applied steps. All later ones were undone."""

    def at(self, position: int) -> Step | None:
        return self.all[position] if 0 <= position < len(self.all) else None

    @property
    def can_undo(self) -> bool:
        return self.cursor > 0

    @property
    def can_redo(self) -> bool:
        return self.cursor < len(self.all)


    @property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """The states after each step up to the cursor, in order."""
        return tuple(step.snapshot for step in self.all[: self.cursor])


def snapshot_of(draft: Draft) -> Snapshot:
    return store.current(draft.stored)


def steps_of(draft: Draft) -> Steps:
    return Steps(store.steps(draft.stored), draft.stored.cursor)
