"""The job that brings the search index up to date. Workers start it when they have nothing else to do: after imports and
saves, after a purge or a restored backup, and once for all chains of an older installation."""

from __future__ import annotations

from django.db.models import Exists, OuterRef

from chainviz.chains.models import ChainQuerySet
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.search.index import index_chain, unindexed

INDEX = "index-library"


def start_if_needed() -> Job | None:
    """Returns the job, if there is anything to index and no such job waits or runs already."""
    jobs = Job.objects.filter(function=INDEX)
    if not unindexed().exists() or jobs.unfinished().exists():
        return None
    jobs.filter(state__in=[Job.State.DONE, Job.State.INTERRUPTED]).delete()
    return start_job(INDEX, owner=None)


def index_library(context: JobContext) -> int:
    """Returns how many chains it indexed. It ends early where another job waits; the next idle worker goes on."""
    keys = list(unindexed().order_by("-head").values_list("pk", flat=True))
    done = 0
    for place, key in enumerate(keys):
        text = f"Chain {place + 1:,} of {len(keys):,}"
        start, share = place / len(keys), 1 / len(keys)
        context.report(start, text)
        done += index_chain(key, lambda part: context.report(start + part * share, text))  # noqa: B023
        if Job.objects.filter(state=Job.State.QUEUED).exists():
            break
    return done


def not_indexed(chains: ChainQuerySet) -> ChainQuerySet:
    """Those that a search can find by their titles only."""
    return chains.filter(Exists(unindexed().filter(pk=OuterRef("history"))))
