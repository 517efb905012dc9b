"""Checks people's drafts against those in the store."""

from __future__ import annotations

from collections.abc import Iterator

from chainviz.drafts.models import Draft
from chainviz.store.fsck import Finding, changed_rows, guarded
from chainviz.store.models import Draft as StoreDraft


def fsck_drafts() -> Iterator[Finding]:
    yield from changed_rows((Draft,))
    yield from guarded("The drafts", _drafts())


def _drafts() -> Iterator[Finding]:
    stored = {key: (history, number) for key, history, number in StoreDraft.objects.values_list("pk", "history", "base__number")}
    for draft in Draft.objects.select_related("chain").order_by("pk"):
        kept = stored.pop(draft.key, None)
        if kept is None:
            yield Finding("error", f"Draft {draft.pk} of chain {draft.chain_id} has no steps in the store.")
        elif kept != (draft.chain.history, draft.base):
            yield Finding("error", f"Draft {draft.pk} of chain {draft.chain_id} does not begin with version {draft.base}.")
    for key in stored:
        yield Finding("error", f"Draft {key} of the store belongs to nobody.")
