"""Chains that were judged by rules of another edition are judged again, as a job: the library shows verdicts of today."""

from __future__ import annotations

from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.versions.heads import HEAD, copy_head
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.models import History
from chainviz.store.outline.edition import RULES

JUDGE = "judge-again"


def judged_otherwise() -> ChainQuerySet:
    return Chain.objects.exclude(rules=RULES)


def start_if_needed() -> Job | None:
    """Returns the job, if there is anything to judge and no such job waits or runs already."""
    if not judged_otherwise().exists() or Job.objects.unfinished().filter(function=JUDGE).exists():
        return None
    return start_job(JUDGE, owner=None)


def judge(key: int) -> bool:
    """Judges the newest version of a chain. Returns False where the chain is gone, or has a newer version meanwhile."""
    chain = Chain.objects.filter(pk=key).first()
    head = History.objects.select_related("head__snapshot").get(pk=chain.history).head if chain else None
    if chain is None or head is None:
        return False
    version, edition = chain.version, chain.rules
    copy_head(chain, head)
    values = {name: getattr(chain, name) for name in HEAD}
    return bool(Chain.objects.filter(pk=key, version=version, rules=edition).update(**values))


def judge_again(context: JobContext) -> int:
    """Returns how many chains it judged."""
    keys = list(judged_otherwise().order_by("-changed_at").values_list("pk", flat=True))
    judged = 0
    for place, key in enumerate(keys):
        context.report(place / len(keys), f"Chain {place + 1:,} of {len(keys):,}")
        judged += judge(key)
    return judged
