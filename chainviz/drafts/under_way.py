"""A person's work on chains that is not over: open drafts with steps, and jobs that wait or run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from chainviz.accounts.models import User
from chainviz.chains.models import Chain
from chainviz.core.operations import OPERATIONS
from chainviz.drafts.models import Draft, SummaryRun
from chainviz.jobs.models import Job
from chainviz.store.models import Draft as StoredDraft
from chainviz.store.models import Snapshot, Step

WORDS = {
    "purge": "purge",
    "count-before-purge": "count before a purge",
    "scan-chain": "scan for secrets",
    "scan-own-patterns": "scan for secrets",
    "propose-repairs": "search for fixes",
    "run-strategy": "compaction",
    "simulate-strategies": "simulation",
    "run-recipe": "recipe",
    "write-summaries": "summaries",
}
OTHER = "page being prepared"
_LABELS = {operation.name: operation.label.lower() for operation in OPERATIONS}


@dataclass(frozen=True, slots=True)
class Running:
    text: str


def open_drafts(person: User) -> QuerySet[Draft]:
    """Those that hold steps, each with the number of those that are not undone in `steps`; of the newest version first."""
    held = Exists(Step.objects.filter(draft=OuterRef("key")))
    steps = Subquery(StoredDraft.objects.filter(pk=OuterRef("key")).values("cursor"))
    return Draft.objects.open().visible_to(person).filter(held).annotate(steps=steps).order_by("-base")


def drafts_of(chains: Iterable[Chain], person: User) -> dict[int, Draft]:
    """By chain, the draft of its newest version, else of an older one."""
    found = open_drafts(person).filter(chain__in=[chain.pk for chain in chains])
    return {draft.chain_id: draft for draft in reversed(found)}


def jobs_of(chains: Iterable[Chain], person: User) -> dict[int, Running]:
    """By chain, the job that was started last."""
    jobs = list(Job.objects.visible_to(person).unfinished().order_by("pk"))
    keys = {chain.history: chain.pk for chain in chains} if jobs else {}
    return {key: Running(_words(job)) for job in jobs for key in _chains(job, keys) if key in keys.values()}


def _chains(job: Job, keys: dict[int, int]) -> Iterator[int]:
    """`keys`: of chains, by history."""
    if "chain" in job.args:
        yield job.args["chain"]
    elif "snapshot" in job.args:
        histories = Snapshot.objects.filter(pk=job.args["snapshot"]).values_list("history", flat=True)
        yield from (keys[history] for history in histories if history in keys)
    elif job.function == "write-summaries":
        yield from SummaryRun.objects.filter(pk=job.args["run"]).values_list("chain", flat=True)


def _words(job: Job) -> str:
    word = _LABELS.get(job.args.get("operation", "")) or WORDS.get(job.function, OTHER)
    return f"{word} {job.progress:.0%}" if job.state == Job.State.RUNNING else f"{word} waits"
