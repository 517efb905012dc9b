"""The strip of a draft below the chain in the explorer: its steps, the size of the change, and the buttons to save or discard it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from chainviz.chains.verdicts import structure_text
from chainviz.chains.versions.history import changed_rows, describe_step
from chainviz.core.counts import count_text
from chainviz.drafts.models import Draft
from chainviz.drafts.preview.steps import StepRow, changed_nodes, nodes_text, step_rows
from chainviz.drafts.stored_draft import snapshot_of, steps_of
from chainviz.store.content.codec import unpack
from chainviz.store.models import Snapshot, Step
from chainviz.store.outline.build import outline_of
from chainviz.web.formatting import byte_text


@dataclass(frozen=True, slots=True)
class Strip:
    draft: Draft
    base_url: str
    """The address of the draft in the explorer."""
    rows: tuple[StepRow, ...]
    steps_text: str
    nodes: str
    """The number of nodes that its steps changed, in words."""
    sizes: str
    problems: str
    can_undo: bool
    can_redo: bool
    next_number: int
    newer: int
    """The number of the newest version; 0 if it is the base of the draft."""
    note: str
    said: str = ""
    """A sentence about the last action."""
    path: str = ""
    """The node of the last action."""


def draft_strip(draft: Draft, said: str = "", path: str = "") -> Strip:
    base, steps, now = draft.stored.base.snapshot, steps_of(draft), snapshot_of(draft)
    return Strip(
        draft=draft,
        base_url=reverse("drafts:explore_version", args=[draft.chain_id, draft.pk]),
        rows=tuple(step_rows(draft, base, steps)),
        steps_text=count_text(steps.cursor, "step"),
        nodes=nodes_text(changed_nodes(steps.snapshots)),
        sizes=_sizes(base.size, now.size),
        problems=_problems(base, now),
        can_undo=steps.can_undo,
        can_redo=steps.can_redo,
        next_number=draft.chain.version + 1,
        newer=draft.chain.version if draft.chain.version != draft.base else 0,
        note=draft.stored.note,
        said=said,
        path=path,
    )


def _sizes(before: int, after: int) -> str:
    texts = dict.fromkeys((byte_text(before), byte_text(after)))
    return " → ".join(texts)


def _problems(before: Snapshot, after: Snapshot) -> str:
    found = [outline.errors + outline.warnings for outline in map(outline_of, (before, after))]
    text = structure_text(found[1])
    return f"{found[0]:,} → {text}" if found[0] not in (0, found[1]) and found[1] else text


def strip_answer(request: HttpRequest, draft: Draft, said: str, path: str) -> HttpResponse:
    """Return the fragment that answers a change in the explorer."""
    return render(request, "drafts/preview/_strip.html", {"strip": draft_strip(draft, said, path)})


def step_answer(request: HttpRequest, draft: Draft, word: str, step: Step | None) -> HttpResponse:
    """Return a sentence about an undo or redo. `step` is the step that was undone or redone."""
    if step is None:
        return strip_answer(request, draft, f"Nothing to {word}.", "")
    name, _ = describe_step(step.snapshot)
    rows = changed_rows(unpack(step.snapshot.report))
    return strip_answer(request, draft, f"{word.capitalize()}: {name}.", str(rows[0]["path"]) if rows else "")
