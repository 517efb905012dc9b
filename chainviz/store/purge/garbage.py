"""Collect garbage: snapshots that no version or draft uses any more, and the runs that only they used.

Garbage comes from discarded drafts, from undone steps that a new step replaced, and from steps that a rebase repeated.
"""

from __future__ import annotations

from django.db import models

from chainviz.store.content.pieces import runs_in
from chainviz.store.models import History, Run, Snapshot, Step, Template, Version
from chainviz.store.purge.delete import purging, remove_runs, remove_snapshots


def collect_all() -> int:
    """Collect the garbage of all histories. Return the number of deleted snapshots."""
    used: set[int | None] = {
        *Version.objects.values_list("snapshot", flat=True),
        *Step.objects.values_list("snapshot", flat=True),
        *Snapshot.objects.values_list("parent", flat=True),
    }
    rows = Snapshot.objects.values_list("pk", "history")
    histories = {history for snapshot, history in rows.iterator() if snapshot not in used}
    return sum(collect(history) for history in History.objects.filter(pk__in=histories, importing=None))


def collect(history: History) -> int:
    """Collect the garbage of one history. Return the number of deleted snapshots."""
    with purging("garbage collection"):
        # steps and saves take the same lock before they write
        History.objects.select_for_update().get(pk=history.pk)
        parents = dict(Snapshot.objects.filter(history=history).values_list("pk", "parent"))
        reached = _reached(history, parents)
        garbage = parents.keys() - reached
        if garbage:
            runs = _runs_of(history, reached)
            remove_snapshots(Snapshot.objects.filter(pk__in=garbage))
            remove_runs(Run.objects.filter(history=history, writing=None).exclude(pk__in=runs))
    return len(garbage)


def _reached(history: History, parents: dict[int, int | None]) -> set[int]:
    """Return the snapshots of versions and steps, with all their ancestors."""
    reached: set[int] = set()
    saved = Version.objects.filter(history=history).values_list("snapshot", flat=True)
    for snapshot in (*saved, *Step.objects.filter(draft__history=history).values_list("snapshot", flat=True)):
        at: int | None = snapshot
        while at is not None and at not in reached:
            reached.add(at)
            at = parents[at]
    return reached


def _runs_of(history: History, snapshots: set[int]) -> set[int]:
    templates: models.QuerySet[Snapshot, int | None] = Snapshot.objects.filter(pk__in=snapshots).values_list(
        "template", flat=True
    )
    runs = set(Template.objects.filter(run__history=history, pk__in=templates).values_list("pk", flat=True))
    # a step that only removes messages has its own run, which no piece refers to
    for run, key, packed in Snapshot.objects.filter(pk__in=snapshots).values_list("run", "key", "pieces"):
        runs |= {run} | runs_in(packed, is_key=key is None)
    return runs
