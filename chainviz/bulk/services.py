"""What a person does with bulk runs: begin one with chains, start it with options, undo it. All writes start here."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from chainviz.accounts.models import Membership
from chainviz.bulk.acts.contract import Act
from chainviz.bulk.models import BulkRow, BulkRun
from chainviz.chains.models import ChainQuerySet
from chainviz.core.errors import Refused
from chainviz.core.operations.contract import Options
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import start_job

FUNCTION = "bulk"
MOST_CHAINS = 10_000
UNSTARTED = timedelta(days=1)
"""How long a choice of chains waits for its options."""
ATTEMPTS = 3


@transaction.atomic
def begin(act: Act, chains: ChainQuerySet, *, by: Membership) -> BulkRun:
    """A run that waits for its options. Raises Refused for no chain, and for too many."""
    keys = list(chains.values_list("pk", flat=True)[: MOST_CHAINS + 1])
    if not keys:
        raise Refused("Tick at least one chain.")
    if len(keys) > MOST_CHAINS:
        raise Refused(f"At most {MOST_CHAINS:,} chains at once; filter the library first.")
    run = BulkRun.objects.create(team=by.team, author=by.user, act=act.name, created_at=timezone.now())
    BulkRow.objects.bulk_create((BulkRow(run=run, chain_id=key) for key in keys), batch_size=500)
    return run


@transaction.atomic
def start(run: BulkRun, options: Options | None = None) -> Job:
    """Queues what is still waiting. Without options it goes on with those of before. Returns the job that is under way, if any."""
    locked = BulkRun.objects.select_for_update().get(pk=run.pk)
    if locked.job is not None and not locked.job.is_finished:
        return locked.job
    if options is not None:
        locked.options, locked.created_at = options.model_dump(mode="json", exclude_defaults=True), timezone.now()
    locked.job = start_job(FUNCTION, owner=locked.author, max_attempts=ATTEMPTS, run=locked.pk)
    locked.save(update_fields=["options", "created_at", "job"])
    return locked.job


@transaction.atomic
def undo(run: BulkRun, *, by: Membership) -> BulkRun:
    """A run that takes back what another one changed; the one under way, if it was asked for before."""
    locked = BulkRun.objects.select_for_update().get(pk=run.pk)
    known = locked.undone_by.first()
    if known is not None:
        return known
    chains = locked.rows.filter(outcome=BulkRow.Outcome.CHANGED).order_by("pk").values_list("chain", flat=True)
    made = BulkRun.objects.create(
        team=by.team, author=by.user, act=run.act, created_at=timezone.now(), undoes=locked, options={}
    )
    BulkRow.objects.bulk_create((BulkRow(run=made, chain_id=key) for key in chains), batch_size=500)
    start(made)
    return made


def forget_unstarted() -> None:
    """A chore of the worker."""
    started = BulkRow.objects.exclude(outcome=BulkRow.Outcome.WAITING).values("run")
    old = BulkRun.objects.filter(job=None, created_at__lt=timezone.now() - UNSTARTED)
    old.exclude(pk__in=started).delete()
