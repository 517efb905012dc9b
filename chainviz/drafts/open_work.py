"""A person's work on chains that is not over: open drafts with steps, and jobs that wait or run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft, SummaryRun
from chainviz.jobs.models import Job
from chainviz.store.models import Draft as StoredDraft
from chainviz.store.models import Snapshot, Step
from chainviz.store.prepared_query import PreparedQuery

SUMMARIES = "write-summaries"
WORDS = {
    "purge": "purge",
    "read-local-file": "file update",
    "count-before-purge": "count before a purge",
    "scan-chain": "scan for secrets",
    "scan-own-patterns": "scan for secrets",
    "propose-repairs": "search for fixes",
    "run-strategy": "compaction",
    "simulate-strategies": "simulation",
    "run-recipe": "recipe",
    SUMMARIES: "summaries",
}
OTHER = "page being prepared"
_LABELS = {operation.name: operation.label.lower() for operation in OPERATIONS}


@dataclass(frozen=True, slots=True)
class OpenDraft:
    pk: int
    steps: int


@dataclass(frozen=True, slots=True)
class Running:
    text: str


def open_drafts(person: User | int) -> QuerySet[Draft]:
    """Return the drafts with steps, those of the newest version first. `steps` is the number of steps that are not undone."""
    held = Exists(Step.objects.filter(draft=OuterRef("key")))
    steps = Subquery(StoredDraft.objects.filter(pk=OuterRef("key")).values("cursor"))
    return Draft.objects.open().visible_to(person).filter(held).annotate(steps=steps).order_by("-base")


drafts_on = PreparedQuery(lambda person, chain: open_drafts(person).filter(chain=chain))
"""Return the open drafts of a person and a chain, by their keys."""


def drafts_of(chains: Iterable[Chain], person: User) -> dict[int, OpenDraft]:
    """Return for each chain the draft of its newest version, else of an older one."""
    keys = {chain.pk for chain in chains}
    return {chain: OpenDraft(pk, steps) for chain, pk, steps in reversed(_drafts_of(person.pk)) if chain in keys}


_drafts_of = PreparedQuery[Any](lambda person: open_drafts(person).values_list("chain", "pk", "steps"))  # type: ignore[misc]


_jobs_of = PreparedQuery(lambda person: Job.objects.visible_to(person).unfinished().order_by("pk"))


def jobs_of(chains: Iterable[Chain], person: User) -> dict[int, Running]:
    """Return for each chain the job that was started last."""
    jobs = _jobs_of(person.pk)
    if not jobs:
        return {}
    by_history = {chain.history: chain.pk for chain in chains}
    snapshots = Snapshot.objects.filter(pk__in=[job.args.get("snapshot") for job in jobs], history__in=by_history)
    by_snapshot = {key: by_history[history] for key, history in snapshots.values_list("pk", "history")}
    runs = [job.args["run"] for job in jobs if job.function == SUMMARIES]
    by_run = dict(SummaryRun.objects.filter(pk__in=runs).values_list("pk", "chain"))
    found = {}
    for job in jobs:
        of_run = by_run.get(job.args["run"]) if job.function == SUMMARIES else None
        chain = job.args.get("chain") or by_snapshot.get(job.args.get("snapshot")) or of_run
        if chain is not None:
            found[chain] = Running(_words(job))
    return found


def _words(job: Job) -> str:
    word = _LABELS.get(job.args.get("operation", "")) or WORDS.get(job.function, OTHER)
    return f"{word} {job.progress:.0%}" if job.state == Job.State.RUNNING else f"{word} waits"
