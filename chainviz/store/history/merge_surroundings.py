"""Merges what two snapshots changed in the document around the messages."""

from __future__ import annotations

from dataclasses import dataclass

from chainviz.core import formats
from chainviz.core.diff.merge.merged import CHOICES, SIDES, Choice, Merged
from chainviz.core.diff.merge.text_merge import merge_texts
from chainviz.core.documents.document_context import DocumentContext
from chainviz.core.state.processed_length import is_state, recorded_length, with_length
from chainviz.store.models import Snapshot
from chainviz.store.transfer.document_context import context_of


@dataclass(frozen=True, slots=True)
class SurroundingsMerge:
    texts: tuple[Merged[str], ...]
    """One for each text around the messages; empty where they cannot be compared."""

    @property
    def has_conflicts(self) -> bool:
        return not self.texts or any(each.has_conflicts for each in self.texts)

    @property
    def choices(self) -> tuple[Choice, ...]:
        can_join = bool(self.texts) and all(each.both is not None for each in self.texts)
        return CHOICES if can_join else SIDES

    def context(self, parent: Snapshot, choice: Choice) -> DocumentContext | None:
        """Returns the changes of both sides around the messages of `parent`, `choice` where they conflict; None where it has
        them already. Its processed_length stays."""
        merged = iter(self.texts)
        return context_of(parent).rewritten(lambda old: _same_length(parent, [old], next(merged).chosen(choice)))


def merge_surroundings(base: Snapshot, mine: Snapshot, theirs: Snapshot) -> SurroundingsMerge:
    """Differences in processed_length are left out."""
    like = context_of(theirs).texts()
    sides = [[_same_length(each, like, text) for text in context_of(each).texts()] for each in (base, mine)]
    if len({each.format for each in (base, mine, theirs)}) > 1 or any(len(side) != len(like) for side in sides):
        return SurroundingsMerge(())
    return SurroundingsMerge(tuple(map(merge_texts, *sides, like)))


def _same_length(state: Snapshot, like: list[str], text: str) -> str:
    """The text of a state document with the processed_length of `like`."""
    length = recorded_length(like) if is_state(formats.get_format(state.format)) else None
    return text if length is None else with_length(text, length)
