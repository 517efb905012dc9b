"""Chains that were judged by rules of another edition are judged again, as a job: the library shows verdicts of today."""

from __future__ import annotations

from django.db import transaction

from chainviz.chains.facts import price_again, priced_otherwise
from chainviz.chains.models import Chain, ChainQuerySet
from chainviz.chains.titles import save_title
from chainviz.chains.versions.heads import HEAD, copy_head
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import JobContext, start_job
from chainviz.store.models import History
from chainviz.store.outline.edition import RULES

JUDGE = "judge-again"


def judged_otherwise() -> ChainQuerySet:
    return Chain.objects.exclude(rules=RULES)


def start_if_needed() -> Job | None:
    """Returns the job, if there is anything to judge or to price and no such job waits or runs already."""
    if not (judged_otherwise().exists() or priced_otherwise()) or Job.objects.unfinished().filter(function=JUDGE).exists():
        return None
    return start_job(JUDGE, owner=None)


def judge(key: int) -> bool:
    """Judges the newest version of a chain and titles it. Returns False where the chain is gone, or changed meanwhile."""
    chain = Chain.objects.filter(pk=key).first()
    head = History.objects.select_related("head__snapshot", "head__history").get(pk=chain.history).head if chain else None
    if chain is None or head is None:
        return False
    version, rules = chain.version, chain.rules
    copy_head(chain, head)
    values = {name: getattr(chain, name) for name in HEAD}
    with transaction.atomic():
        if not History.objects.select_for_update().filter(pk=head.history_id, edition=head.history.edition).exists():
            return False  # what was read has been purged
        is_same = bool(Chain.objects.filter(pk=key, version=version, rules=rules).update(**values))
        if is_same:
            save_title(chain, head.snapshot)
    return is_same


def judge_again(context: JobContext) -> int:
    """Returns how many chains it judged."""
    keys = list(judged_otherwise().order_by("-changed_at").values_list("pk", flat=True))
    judged = 0
    for place, key in enumerate(keys):
        context.report(place / len(keys), f"Chain {place + 1:,} of {len(keys):,}")
        judged += judge(key)
    for key in priced_otherwise():
        price_again(key)
    return judged
