"""The job of a bulk run, chain by chain. Each chain is finished in one transaction, so a worker that takes over the job continues after the
last finished chain."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone

from chainviz.accounts import audit as audit_log
from chainviz.accounts.models import Membership
from chainviz.bulk.acts import act_named
from chainviz.bulk.acts.change import drop_draft
from chainviz.bulk.acts.contract import Act, NoOptions, Outcome, Result, Work
from chainviz.bulk.models import BulkRow, BulkRun
from chainviz.chains.models import ChainQuerySet
from chainviz.core.errors import ChainError, Refused
from chainviz.core.operations.contract import Options
from chainviz.jobs import lease
from chainviz.jobs.lease import storable
from chainviz.jobs.models import Job
from chainviz.jobs.tasks import Cancelled, JobContext, start_job
from chainviz.store.errors import is_disk_full

log = logging.getLogger(__name__)
FAULT = "This is a bug in chainviz, not in the chain ({}); the server's log says more."
BINNED = "It is in the bin."
NOT_ALLOWED = "Your role no longer allows this."
RECORDED = "bulk"
"""The act of rows in the audit log. Each changed chain has one."""


def run_rows(context: JobContext, run: int) -> dict[str, Any]:
    """Run the act on every waiting chain. Return the number of chains."""
    bulk = BulkRun.objects.select_related("undoes").get(pk=run)
    act = act_named(bulk.act)
    if act is None:
        raise Refused("This version of chainviz cannot do that in bulk.")
    options = NoOptions() if bulk.undoes else act.Options.model_validate(bulk.options)
    total = bulk.rows.count()
    waiting = list(bulk.rows.filter(outcome=Outcome.WAITING).order_by("pk").values_list("pk", flat=True))
    for number, key in enumerate(waiting, total - len(waiting)):
        _row(OneOf(context, number, total), bulk, act, options, key)
    kept = options.without_secrets()  # a stopped run still needs the other options
    BulkRun.objects.filter(pk=run).update(options=kept.model_dump(mode="json", exclude_defaults=True))
    return {"chains": total}


class OneOf:
    """Reports the progress of one chain among many."""

    def __init__(self, context: JobContext, number: int, total: int) -> None:
        self.context, self.number, self.total = context, number, total

    def __call__(self, done: float, text: str) -> None:
        # without its title, which may be purged at this moment
        said = f"Chain {self.number + 1:,} of {self.total:,}" + (f": {text}" if text else "")
        self.context.report((self.number + done) / self.total, said)


def _row(progress: OneOf, bulk: BulkRun, act: Act, options: Options, key: int) -> None:
    row = BulkRow.objects.select_related("chain", "draft").filter(pk=key).first()
    if row is None:
        return  # the chain was deleted for good meanwhile
    progress(0.0, "")
    drop_draft(row)
    try:
        work = Work(row, row.chain, _member(bulk, act), options, progress)
        if row.chain.is_in_bin and bulk.undoes is None:
            raise Refused(BINNED)
        finish = act.undo(work, _row_to_undo(bulk, row)) if bulk.undoes else act.prepare(work)
        _write(progress.context, bulk, act, row, finish)
        return
    except (Cancelled, DatabaseError):
        raise
    except ChainError as refused:
        reason = str(refused)
    except Exception as error:
        if is_disk_full(error):
            raise
        log.exception("chain %s of bulk run %s failed", row.chain_id, bulk.pk)
        reason = FAULT.format(type(error).__name__)
    row.refresh_from_db()
    drop_draft(row)
    _write(progress.context, bulk, act, row, lambda: Result(Outcome.REFUSED, reason, row.chain.version))


def _write(context: JobContext, bulk: BulkRun, act: Act, row: BulkRow, finish: Any) -> None:
    with transaction.atomic():
        result: Result = finish()
        BulkRow.objects.filter(pk=row.pk).update(
            outcome=result.outcome,
            text=storable(result.text),
            before=result.before,
            after=result.after,
            facts=dict(result.facts),
            draft=None,
        )
        if result.outcome == Outcome.CHANGED and settings.CHAINVIZ.mode == "team":
            facts: dict[str, Any] = {"run": bulk.pk, "did": act.name, **({"version": result.after} if result.after else {})}
            audit_log.record(bulk.team, bulk.author, RECORDED, chain=row.chain_id, **facts)
        if not lease.beat(context.job):
            raise Cancelled


def _member(bulk: BulkRun, act: Act) -> Membership:
    member = Membership.objects.active().filter(team=bulk.team_id, user=bulk.author_id).select_related("team", "user").first()
    if member is None or not member.may(act.permission):
        raise Refused(NOT_ALLOWED)
    return member


def _row_to_undo(bulk: BulkRun, row: BulkRow) -> BulkRow:
    """Return the row of this chain in the run to undo."""
    return BulkRow.objects.get(run=bulk.undoes, chain=row.chain)


# Changes of bulk runs: begin one with chains, start it with options, undo it. All writes start here.


FUNCTION = "bulk"
MOST_CHAINS = 10_000
UNSTARTED = timedelta(days=1)
"""The time for which chosen chains wait for options."""
ATTEMPTS = 3


@transaction.atomic
def begin(act: Act, chains: ChainQuerySet, *, by: Membership) -> BulkRun:
    """Create a run that waits for its options. Raises Refused for no chains, or too many."""
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
    """Queue the waiting chains. Without options, the run continues with its earlier ones. Return the running job if there is one."""
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
    """Create a run that undoes another one, or return the existing one."""
    locked = BulkRun.objects.select_for_update().get(pk=run.pk)
    known = locked.undone_by.first()
    if known is not None:
        return known
    chains = locked.rows.filter(outcome=BulkRow.Outcome.CHANGED).order_by("pk").values_list("chain", flat=True)
    made = BulkRun.objects.create(team=by.team, author=by.user, act=run.act, created_at=timezone.now(), undoes=locked, options={})
    BulkRow.objects.bulk_create((BulkRow(run=made, chain_id=key) for key in chains), batch_size=500)
    start(made)
    return made


def forget_unstarted() -> None:
    """Delete choices of chains that waited too long for options. The worker calls this regularly."""
    started = BulkRow.objects.exclude(outcome=BulkRow.Outcome.WAITING).values("run")
    old = BulkRun.objects.filter(job=None, created_at__lt=timezone.now() - UNSTARTED)
    old.exclude(pk__in=started).delete()
